package proc

import (
	"math"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// benchJob starts a job that has come to wait.
func benchJob(b *testing.B, argv ...string) (job, []Process) {
	need(b, argv[0])
	j := start(b, false, exec.Command(argv[0], argv[1:]...))
	if !eventually(hang, j.waits) {
		b.Skip("does not wait here")
	}
	return j, j.all()
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		Read(os.Getpid())
	}
}

func BenchmarkWaiting(b *testing.B) {
	b.Run("3 processes, none", func(b *testing.B) {
		j, _ := benchJob(b, "sh", "-c", "sleep 300 & sleep 301 & read x")
		kids := Below(j.pid)
		for b.Loop() {
			Waiting(kids, j.input)
		}
	})
	b.Run("3 processes, the last", func(b *testing.B) {
		j, all := benchJob(b, "sh", "-c", "sh -c 'cat; true'; true")
		for b.Loop() {
			Waiting(all, j.input)
		}
	})
	b.Run("node", func(b *testing.B) {
		j, all := benchJob(b, "node", "-i")
		for b.Loop() {
			Waiting(all, j.input)
		}
	})
}

func BenchmarkPorts(b *testing.B) {
	const server = `python3 -c "import signal,socket; s=socket.create_server(('127.0.0.1', 0)); signal.pause()"`
	j, _ := benchJob(b, "sh", "-c", server+" & "+server+" & sleep 1; read x")
	all := j.all()
	if len(Ports(all)) != 2 {
		b.Skip("do not listen")
	}
	for b.Loop() {
		Ports(all)
	}
}

func BenchmarkHolders(b *testing.B) {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for b.Loop() {
		Holders(nil, []*os.File{r})
	}
	b.ReportMetric(float64(count()), "processes")
}

func BenchmarkMarked(b *testing.B) {
	for b.Loop() {
		Marked(func(string) bool { return true }, "PROC_BENCH_MARK")
	}
	b.ReportMetric(float64(count()), "processes")
}

func BenchmarkBelow(b *testing.B) {
	for _, n := range []int{3, 30, 130} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			j, _ := benchJob(b, "sh", "-c", "for i in $(seq "+strconv.Itoa(n)+"); do sleep 300 & done; read x")
			for b.Loop() {
				if got := len(Below(j.pid)); got != n {
					b.Fatal(got)
				}
			}
			b.ReportMetric(float64(count()), "processes")
		})
	}
}

func BenchmarkCommandLine(b *testing.B) {
	for b.Loop() {
		CommandLine(os.Getpid())
	}
}

// count is the number of processes of the machine.
func count() int {
	all, _ := numbers("/proc", math.MaxInt)
	return len(all)
}
