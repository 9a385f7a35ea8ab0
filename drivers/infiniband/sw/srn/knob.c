// SPDX-License-Identifier: GPL-2.0-only
/* Files for the parameters of congestion control, and for when QPs take turns, and whether they spread what they send over
 * long paths. A client of the core hears of devices that come, go and get another name. Without debugfs there are none,
 * and nothing else is missing.
 */
#include "knob.h"

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <rdma/ib_verbs.h>

#include "cc.h"
#include "device.h"
#include "rota.h"
#include "ucontext.h"

struct bounds {
	const char *name;
	size_t at;
	u32 least;
	u32 most;
};

#define ROW(field, low, high, value)	\
	{ #field, offsetof(struct srn_cc_params, field), low, high },

static const struct bounds all[] = {
	SRN_CC_PARAMS(ROW)
};

struct knob {
	const struct bounds *bounds;
	u32 *value;
};

/* Of a device. */
struct panel {
	struct dentry *dir;
	struct knob knobs[ARRAY_SIZE(all)];
};

static struct dentry *root;

static int get(void *data, u64 *value)
{
	const struct knob *knob = data;

	*value = READ_ONCE(*knob->value);
	return 0;
}

static int set(void *data, u64 value)
{
	const struct knob *knob = data;

	if (value < knob->bounds->least || value > knob->bounds->most)
		return -EINVAL;
	WRITE_ONCE(*knob->value, value);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(fops, get, set, "%llu\n");

/* When turns are taken, in a word. */
static const char *const whens[] = {
	[SRN_ROTA_OFF]		= "off",
	[SRN_ROTA_LOSSY]	= "lossy",
	[SRN_ROTA_ALWAYS]	= "always",
};

static ssize_t read_when(struct file *file, char __user *to, size_t size, loff_t *at)
{
	const u8 *when = file->private_data;
	char text[16];
	int len = scnprintf(text, sizeof(text), "%s\n", whens[READ_ONCE(*when)]);

	return simple_read_from_buffer(to, size, at, text, len);
}

static ssize_t write_when(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	u8 *when = file->private_data;
	char text[16] = {};
	int which;

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, size))
		return -EFAULT;
	which = sysfs_match_string(whens, text);
	if (which < 0)
		return which;
	WRITE_ONCE(*when, which);
	return size;
}

static const struct file_operations when_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = read_when,
	.write = write_when,
	.llseek = default_llseek,
};

static void fill(struct panel *panel, struct srn_dev *dev)
{
	struct dentry *dir = debugfs_create_dir("cc_params", panel->dir);
	int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		struct knob *knob = &panel->knobs[i];

		knob->bounds = &all[i];
		knob->value = (void *)&dev->cc + all[i].at;
		debugfs_create_file_unsafe(all[i].name, 0600, dir, knob, &fops);
	}
}

static struct ib_client client;

static int add(struct ib_device *ibdev)
{
	struct panel *panel;

	/* Not by the owner: of all that is built in it is NULL. */
	if (ibdev->ops.alloc_ucontext != srn_alloc_ucontext)
		return -EOPNOTSUPP;
	panel = kzalloc(sizeof(*panel), GFP_KERNEL);
	if (!panel)
		return -ENOMEM;
	panel->dir = debugfs_create_dir(dev_name(&ibdev->dev), root);
	fill(panel, to_srn_dev(ibdev));
	debugfs_create_file("rota", 0600, panel->dir, &to_srn_dev(ibdev)->rota, &when_fops);
	debugfs_create_bool("spread", 0600, panel->dir, &to_srn_dev(ibdev)->spread);
	ib_set_client_data(ibdev, &client, panel);
	return 0;
}

/* Waits for who is in one of the files. */
static void remove(struct ib_device *ibdev, void *data)
{
	struct panel *panel = data;

	debugfs_remove(panel->dir);
	kfree(panel);
}

static void rename(struct ib_device *ibdev, void *data)
{
	struct panel *panel = data;
	struct dentry *dir = debugfs_rename(root, panel->dir, root, dev_name(&ibdev->dev));

	if (!IS_ERR_OR_NULL(dir))
		panel->dir = dir;
}

static struct ib_client client = {
	.name = "srn",
	.add = add,
	.remove = remove,
	.rename = rename,
};

int srn_knob_init(void)
{
	int err;

	root = debugfs_create_dir("srn", NULL);
	err = ib_register_client(&client);
	if (err)
		debugfs_remove(root);
	return err;
}

void srn_knob_exit(void)
{
	ib_unregister_client(&client);
	debugfs_remove(root);
}
