// Package freeze stops one thread of a process on this machine while all its
// other threads go on: of an unmodified server, which takes no part in it.
//
// Read Freeze first. HostThread finds the thread of a process in a container
// by the number that the process itself knows. Linux does it by ptrace, for
// root and for who has CAP_SYS_PTRACE; elsewhere Freeze fails.
package freeze
