// SPDX-License-Identifier: GPL-2.0-only
/* Prints the rate of this processor's time stamp counter in kHz. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct reading {
	uint64_t ns;
	uint64_t ticks;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* The one of many tries that nobody interrupted: its clock is read between two close
 * readings of the counter.
 */
static struct reading read_both(void)
{
	struct reading best = { 0 };
	uint64_t width = UINT64_MAX;

	for (int i = 0; i < 200; i++) {
		uint64_t before = __rdtsc();
		uint64_t ns = now_ns();
		uint64_t after = __rdtsc();

		if (after - before < width) {
			width = after - before;
			best.ns = ns;
			best.ticks = before + width / 2;
		}
	}
	return best;
}

int main(void)
{
	struct timespec half = { .tv_nsec = 500000000 };
	struct reading first = read_both(), last;

	nanosleep(&half, NULL);
	last = read_both();
	printf("%llu\n", (unsigned long long)((last.ticks - first.ticks) * 1000000 /
					      (last.ns - first.ns)));
	return 0;
}
