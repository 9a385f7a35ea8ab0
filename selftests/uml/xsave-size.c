// SPDX-License-Identifier: GPL-2.0-only
/* How many bytes this processor saves of a process's floating point registers. */
#include <cpuid.h>
#include <stdio.h>

int main(void)
{
	unsigned int eax, ebx = 0, ecx, edx;

	__get_cpuid_count(0xd, 0, &eax, &ebx, &ecx, &edx);
	printf("%u\n", ebx);
	return 0;
}
