// race starts a program again and again, while something changes what it starts:
//
//	race MODE N HARMLESS VICTIM
//
// Each try starts HARMLESS or VICTIM with the argument "pull" or "push". Modes say what is changed meanwhile, and by whom. Where that is the file,
// VICTIM is a copy of this program, which makes the file push, too.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static struct shared {
	char path[2][512]; // the one that is used is path[0]
	char use[512];
	char word[8];
	char *argv[3];
	int fd, harmless, victim;
} *s;

static const char *mode;

static int is(const char *name) { return strcmp(mode, name) == 0; }

static void *change(void *unused) {
	static char pull[] = "pull", push[] = "push";
	for (int i = 0;; i++) {
		volatile char *word = s->word;
		if (is("path") || is("path-thread")) {
			strcpy(s->use, s->path[i % 2]);
		} else if (is("descriptor")) {
			dup2(i % 2 ? s->victim : s->harmless, s->fd);
		} else if (is("pointer")) {
			*(char *volatile *)&s->argv[1] = i % 2 ? push : pull;
		} else {
			word[2] = i % 2 ? 's' : 'l', word[3] = i % 2 ? 'h' : 'l';
		}
	}
	return unused;
}

static int changeForever(void *unused) {
	alarm(1); // nobody waits for it
	change(unused);
	return 0;
}

static void *start(void *unused) {
	if (is("descriptor")) {
		syscall(SYS_execveat, s->fd, "", s->argv, environ, AT_EMPTY_PATH);
	} else {
		syscall(SYS_execve, s->use, s->argv, environ);
	}
	_exit(9); // refused
	return unused;
}

int main(int argc, char **argv) {
	mode = argv[1];
	if (is("pull")) { // started as VICTIM
		return creat("push", 0600) < 0;
	}
	int all = atoi(argv[2]), ended[3] = {0};
	for (int i = 0; i < all; i++) {
		s = mmap(0, sizeof *s, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | (is("shared") ? MAP_SHARED : MAP_PRIVATE), -1, 0);
		strcpy(s->path[0], argv[3]);
		strcpy(s->path[1], argv[4]);
		strcpy(s->use, is("path") || is("path-thread") ? argv[3] : argv[4]);
		strcpy(s->word, "pull");
		s->argv[0] = "x", s->argv[1] = s->word;
		s->harmless = open(argv[3], O_PATH | O_CLOEXEC), s->victim = open(argv[4], O_PATH | O_CLOEXEC);
		s->fd = fcntl(s->harmless, F_DUPFD, 50);
		pid_t other = 0, child;
		if (is("shared") && (other = fork()) == 0) {
			change(0);
		}
		if ((child = fork()) == 0) {
			pthread_t t;
			if (is("clone")) {
				char *stack = mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
				if (clone(changeForever, stack + (1 << 16), CLONE_VM | SIGCHLD, 0) < 0) {
					_exit(8);
				}
			} else if (!is("shared")) {
				pthread_create(&t, 0, change, 0);
			}
			usleep(i % 7 * 30);
			if (is("path-thread")) {
				pthread_create(&t, 0, start, 0);
				pthread_join(t, 0);
			}
			pid_t inner;
			if (is("vfork") && (inner = vfork()) > 0) {
				int status;
				waitpid(inner, &status, 0);
				if (WIFSIGNALED(status)) {
					raise(SIGKILL);
				}
				_exit(WEXITSTATUS(status));
			}
			start(0);
		}
		int status;
		waitpid(child, &status, 0);
		ended[WIFSIGNALED(status) ? 2 : WEXITSTATUS(status) ? 1 : 0]++;
		if (other) {
			kill(other, SIGKILL);
			waitpid(other, &status, 0);
		}
		close(s->fd), close(s->harmless), close(s->victim);
		munmap(s, sizeof *s);
	}
	printf("%d ran, %d were refused, %d were ended\n", ended[0], ended[1], ended[2]);
	return 0;
}
