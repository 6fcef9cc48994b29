package main
import ("testing";"bytes";"os";"strconv";"io";"syscall";"fmt")
func cpuNow() float64 { var u syscall.Rusage; syscall.Getrusage(syscall.RUSAGE_SELF,&u); return float64(u.Utime.Nano()+u.Stime.Nano())/1e9 }
func TestZZ(t *testing.T) {
	gap,_ := strconv.ParseFloat(os.Getenv("ZG"),64)
	for range 5 {
		a := cpuNow()
		var b bytes.Buffer
		err := runAllocate(streams{out:&b, err: io.Discard}, allocateConfig{file: os.Getenv("ZF"), policy: os.Getenv("ZP"), output:"json", gap: gap})
		fmt.Println(err, b.Len(), cpuNow()-a)
	}
}
