package seccomp

import "fmt"

// architecture names a column of calls and the kernel's AUDIT_ARCH_ number, which every call carries.
type architecture struct {
	column int
	audit  uint32
}

var architectures = map[string]architecture{
	"amd64": {0, 0xc000_003e},
	"arm64": {1, 0xc000_00b7},
}

func architectureOf(arch string) (architecture, error) {
	a, ok := architectures[arch]
	if !ok {
		return a, fmt.Errorf("seccomp filter: no table for architecture %q", arch)
	}
	return a, nil
}

// Number returns the number of a call on an architecture, and false when either is not in the tables or the
// architecture lacks that call.
func Number(arch, call string) (int, bool) {
	a, err := architectureOf(arch)
	numbers, known := calls[call]
	if err != nil || !known || numbers[a.column] == absent {
		return 0, false
	}
	return int(numbers[a.column]), true
}

// newest is the highest number that these tables were made with (Linux 7.0). Calls of later kernels are unknown here,
// so they do not exist for a command.
const newest = 471

// absent marks a call that an architecture does not have.
const absent = -1

// calls holds the numbers on amd64 and arm64 of every call that a rule may name.
var calls = map[string][2]int16{
	"acct":               {163, 89},
	"add_key":            {248, 217},
	"adjtimex":           {159, 171},
	"bind":               {49, 200},
	"bpf":                {321, 280},
	"chmod":              {90, absent},
	"chown":              {92, absent},
	"chroot":             {161, 51},
	"clock_adjtime":      {305, 266},
	"clock_settime":      {227, 112},
	"clone":              {56, 220},
	"clone3":             {435, 435},
	"creat":              {85, absent},
	"connect":            {42, 203},
	"create_module":      {174, absent},
	"delete_module":      {176, 106},
	"fchmod":             {91, 52},
	"fchmodat":           {268, 53},
	"fchmodat2":          {452, 452},
	"fchown":             {93, 55},
	"fchownat":           {260, 54},
	"fcntl":              {72, 25},
	"file_setattr":       {469, 469},
	"finit_module":       {313, 273},
	"fremovexattr":       {199, 16},
	"fsconfig":           {431, 431},
	"fsetxattr":          {190, 7},
	"fsmount":            {432, 432},
	"fsopen":             {430, 430},
	"fspick":             {433, 433},
	"futimesat":          {261, absent},
	"init_module":        {175, 105},
	"io_uring_enter":     {426, 426},
	"io_uring_register":  {427, 427},
	"io_uring_setup":     {425, 425},
	"ioctl":              {16, 29},
	"ioperm":             {173, absent},
	"iopl":               {172, absent},
	"ioprio_set":         {251, 30},
	"kcmp":               {312, 272},
	"kexec_file_load":    {320, 294},
	"kexec_load":         {246, 104},
	"keyctl":             {250, 219},
	"lchown":             {94, absent},
	"link":               {86, absent},
	"linkat":             {265, 37},
	"lookup_dcookie":     {212, 18},
	"lremovexattr":       {198, 15},
	"lsetxattr":          {189, 6},
	"migrate_pages":      {256, 238},
	"mkdir":              {83, absent},
	"mkdirat":            {258, 34},
	"mknod":              {133, absent},
	"mknodat":            {259, 33},
	"mount":              {165, 40},
	"mount_setattr":      {442, 442},
	"move_mount":         {429, 429},
	"move_pages":         {279, 239},
	"mq_open":            {240, 180},
	"mq_unlink":          {241, 181},
	"msgctl":             {71, 187},
	"msgget":             {68, 186},
	"msgrcv":             {70, 188},
	"msgsnd":             {69, 189},
	"nfsservctl":         {180, 42},
	"open":               {2, absent},
	"open_by_handle_at":  {304, 265},
	"open_tree":          {428, 428},
	"open_tree_attr":     {467, 467},
	"openat":             {257, 56},
	"openat2":            {437, 437},
	"perf_event_open":    {298, 241},
	"personality":        {135, 92},
	"pidfd_getfd":        {438, 438},
	"pidfd_open":         {434, 434},
	"pivot_root":         {155, 41},
	"prctl":              {157, 167},
	"prlimit64":          {302, 261},
	"process_madvise":    {440, 440},
	"process_vm_readv":   {310, 270},
	"process_vm_writev":  {311, 271},
	"ptrace":             {101, 117},
	"quotactl":           {179, 60},
	"quotactl_fd":        {443, 443},
	"reboot":             {169, 142},
	"removexattr":        {197, 14},
	"removexattrat":      {466, 466},
	"rename":             {82, absent},
	"renameat":           {264, 38},
	"renameat2":          {316, 276},
	"request_key":        {249, 218},
	"rmdir":              {84, absent},
	"sched_setaffinity":  {203, 122},
	"sched_setattr":      {314, 274},
	"sched_setparam":     {142, 118},
	"sched_setscheduler": {144, 119},
	"semctl":             {66, 191},
	"semget":             {64, 190},
	"semop":              {65, 193},
	"semtimedop":         {220, 192},
	"sendmmsg":           {307, 269},
	"sendmsg":            {46, 211},
	"sendto":             {44, 206},
	"setdomainname":      {171, 162},
	"sethostname":        {170, 161},
	"setns":              {308, 268},
	"setpriority":        {141, 140},
	"settimeofday":       {164, 170},
	"setxattr":           {188, 5},
	"setxattrat":         {463, 463},
	"shmat":              {30, 196},
	"shmctl":             {31, 195},
	"shmget":             {29, 194},
	"socket":             {41, 198},
	"socketpair":         {53, 199},
	"swapoff":            {168, 225},
	"swapon":             {167, 224},
	"symlink":            {88, absent},
	"symlinkat":          {266, 36},
	"syslog":             {103, 116},
	"truncate":           {76, 45},
	"umount2":            {166, 39},
	"unlink":             {87, absent},
	"unlinkat":           {263, 35},
	"unshare":            {272, 97},
	"uselib":             {134, absent},
	"userfaultfd":        {323, 282},
	"utime":              {132, absent},
	"utimensat":          {280, 88},
	"utimes":             {235, absent},
	"vhangup":            {153, 58},
}
