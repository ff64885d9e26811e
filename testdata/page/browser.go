package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// browser is a Chromium with one tab, which is driven over a pipe.
type browser struct {
	version string
	cmd     *exec.Cmd
	in      *os.File
	session string // of the tab

	mu      sync.Mutex
	id      int
	pending map[int]chan message
	bad     []string // errors, violations of the policy, and exceptions of the page
}

// message is a message of the protocol.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// newBrowser starts Chromium with the screen of a phone.
func newBrowser(home string) (*browser, error) {
	name, err := chromium()
	if err != nil {
		return nil, err
	}
	flags := []string{"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + filepath.Join(home, "browser"), "--ignore-certificate-errors",
		"--no-first-run", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-default-browser-check"}
	if os.Geteuid() == 0 {
		flags = append(flags, "--no-sandbox")
	}
	b := &browser{cmd: exec.Command(name, append(flags, "about:blank")...), pending: map[int]chan message{}}
	b.cmd.Env = append(os.Environ(), "HOME="+home)
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	b.in, b.cmd.ExtraFiles = write, []*os.File{read, to}
	if err := b.cmd.Start(); err != nil {
		return nil, err
	}
	read.Close()
	to.Close()
	go b.listen(from)
	return b, b.open()
}

// chromium is the program.
func chromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", errors.New("there is no chromium on the PATH")
}

// open opens the tab.
func (b *browser) open() error {
	var about struct{ Product string }
	if err := b.do("Browser.getVersion", nil, &about); err != nil {
		return err
	}
	b.version = about.Product
	var made struct{ TargetID, SessionID string }
	if err := b.do("Target.createTarget", map[string]any{"url": "about:blank"}, &made); err != nil {
		return err
	}
	if err := b.do("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &made); err != nil {
		return err
	}
	b.session = made.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		if err := b.do(domain+".enable", nil, nil); err != nil {
			return err
		}
	}
	return b.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": 390, "height": 700, "deviceScaleFactor": 2, "mobile": true}, nil)
}

// listen takes messages until the browser ends.
func (b *browser) listen(from *os.File) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		waits := b.pending[m.ID]
		delete(b.pending, m.ID)
		if m.Method == "Runtime.exceptionThrown" || m.Method == "Log.entryAdded" && strings.Contains(string(m.Params), `"level":"error"`) {
			b.bad = append(b.bad, string(m.Params))
		}
		b.mu.Unlock()
		if m.ID != 0 && waits != nil {
			waits <- m
		}
	}
}

// complaints are the errors so far, without those of requests that were to be refused.
func (b *browser) complaints() (said []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.bad {
		if !strings.Contains(text, "status of 40") {
			said = append(said, text)
		}
	}
	return said
}

// forget forgets the errors so far.
func (b *browser) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bad = nil
}

// do sends a command and reads its result.
func (b *browser) do(method string, params, into any) error {
	if params == nil {
		params = struct{}{}
	}
	done := make(chan message, 1)
	b.mu.Lock()
	b.id++
	command := map[string]any{"id": b.id, "method": method, "params": params}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	b.pending[b.id] = done
	encoded, err := json.Marshal(command)
	if err == nil {
		_, err = b.in.Write(append(encoded, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case m := <-done:
		if m.Error != nil {
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal(m.Result, into)
	case <-time.After(patience):
		return fmt.Errorf("%s: no answer", method)
	}
}

// eval is the value of an expression on the page, as JSON would have it.
func (b *browser) eval(expression string, into any) error {
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	if err := b.do("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true, "allowUnsafeEvalBlockedByCSP": false}, &r); err != nil {
		return err
	}
	if r.ExceptionDetails != nil {
		return fmt.Errorf("%s: %s", expression, r.ExceptionDetails)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(r.Result.Value, into)
}

// until waits until an expression is true.
func (b *browser) until(expression string) error {
	var yes bool
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(50 * time.Millisecond) {
		if err := b.eval("!!("+expression+")", &yes); err != nil {
			return err
		}
		if yes {
			return nil
		}
	}
	var text string
	_ = b.eval("document.body.innerText", &text)
	return fmt.Errorf("%s does not come about; the page says: %.1000s", expression, text)
}

// click clicks with the mouse in the middle of the element that an expression names.
func (b *browser) click(element string) error {
	var at struct{ X, Y float64 }
	script := fmt.Sprintf(`(() => { const e = %s; if (!e || e.disabled) return {x: 0, y: 0}; e.scrollIntoView({block: 'nearest'}); const r = e.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()`, element)
	if err := b.eval(script, &at); err != nil {
		return err
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		if err := b.do("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil); err != nil {
			return err
		}
	}
	return nil
}

// clickUntil clicks until an expression is true.
func (b *browser) clickUntil(element, expression string) error {
	var yes bool
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(400 * time.Millisecond) {
		if err := b.eval("!!("+expression+")", &yes); err != nil || yes {
			return err
		}
		if err := b.click(element); err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("clicks on %s did not bring about %s", element, expression)
}

// press presses a key with a letter.
func (b *browser) press(letter string) error {
	if err := b.do("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": letter, "text": letter, "code": "Key" + strings.ToUpper(letter)}, nil); err != nil {
		return err
	}
	return b.do("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": letter, "code": "Key" + strings.ToUpper(letter)}, nil)
}

// types writes text where the focus is.
func (b *browser) types(text string) error {
	return b.do("Input.insertText", map[string]any{"text": text}, nil)
}

// shot takes a picture.
func (b *browser) shot(dir, name string) {
	var picture struct{ Data string }
	if dir == "" || b.do("Page.captureScreenshot", nil, &picture) != nil {
		return
	}
	png, err := base64.StdEncoding.DecodeString(picture.Data)
	if err == nil {
		_ = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(strings.Fields(name)[0]+"-"+fmt.Sprint(len(name)), "/", "-")+".png"), png, 0o600)
	}
}

func (b *browser) close() {
	b.in.Close()
	ended := make(chan struct{})
	go func() { _ = b.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		_ = b.cmd.Process.Kill()
		<-ended
	}
}
