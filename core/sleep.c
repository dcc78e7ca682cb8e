/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/sleep.h"

#define EVENTS 8
#define DRAIN (1ULL << 32) /**< in an event's data: an eventfd to be read */

int
ap_sleep_watch(struct ap_sleep *s, int fd, bool drain)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = (uint32_t)fd | (drain ? DRAIN : 0)};

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

int
ap_sleep_init(struct ap_sleep *s)
{
	int rc = 0;

	*s = (struct ap_sleep){.event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
			       .epoll_fd = epoll_create1(EPOLL_CLOEXEC)};
	if (s->event_fd < 0 || s->epoll_fd < 0)
		rc = -errno;
	else
		rc = ap_sleep_watch(s, s->event_fd, true);
	if (rc < 0)
		ap_sleep_fini(s);
	return rc;
}

void
ap_sleep_fini(struct ap_sleep *s)
{
	if (s->event_fd >= 0)
		close(s->event_fd);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	s->event_fd = s->epoll_fd = -1;
}

void
ap_sleep_kick(struct ap_sleep *s)
{
	const uint64_t one = 1;

	/* One kick a sleep is enough: who takes the flag down gives it. */
	if (!atomic_exchange_explicit(&s->flag, false, memory_order_acq_rel))
		return;
	/* It fails when 2^64 - 2 kicks wait, which is as good as one more. */
	if (write(s->event_fd, &one, sizeof(one)) < 0)
		return;
}

bool
ap_sleep_wait(struct ap_sleep *s, uint64_t ns)
{
	const struct timespec limit = {.tv_sec = (time_t)(ns / AP_NS_PER_S),
				       .tv_nsec = (long)(ns % AP_NS_PER_S)};
	struct epoll_event e[EVENTS];
	bool kicked = false, polled = false;
	int n = epoll_pwait2(s->epoll_fd, e, EVENTS, &limit, NULL);

	/* Kernels before 5.11 know milliseconds only: rather too short than too long. */
	if (n < 0 && errno == ENOSYS)
		n = epoll_wait(s->epoll_fd, e, EVENTS, (int)(ns / AP_NS_PER_MS));
	ap_sleep_cancel(s);
	for (int i = 0; i < n; i++) {
		int fd = (int)(uint32_t)e[i].data.u64;
		uint64_t times;

		if (fd == s->event_fd)
			kicked = true;
		else
			polled = true;
		if (e[i].data.u64 & DRAIN && read(fd, &times, sizeof(times)) < 0)
			continue;
		/* Of a descriptor with an error there is nothing to wait for. */
		if (fd != s->event_fd && !(e[i].events & EPOLLIN))
			epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	}
	s->kicked += kicked;
	s->polled += polled && !kicked;
	s->timed += !kicked && !polled;
	return kicked || polled;
}
