package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// scene is one thing that is looked at.
type scene struct {
	name string
	play func(p *play) error
}

// The elements of the page. card is the one whose text has a word in it.
const (
	firstButton = `document.querySelector('section.card:not(.ended) .keys button')`
	notice      = `document.getElementById('notice').textContent`
)

func card(word string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('section.card')].find(c => c.innerText.includes(%q))`, word)
}

func button(word, text string) string {
	return fmt.Sprintf(`[...%s.querySelectorAll('button')].find(b => !b.hidden && b.textContent.startsWith(%q))`, card(word), text)
}

// over is whether a card is answered.
func over(word string) string {
	return fmt.Sprintf(`!(%[1]s) || %[1]s.classList.contains('ended')`, card(word))
}

// answers clicks a button of a card until it is answered: a click does not count for a moment after another card went.
func (p *play) answers(word, text string) error {
	return p.browser.clickUntil(button(word, text), over(word))
}

var scenes = []scene{
	{"the page opens over TLS and asks for a code", func(p *play) error {
		if err := p.browser.do("Page.navigate", map[string]any{"url": p.url + "/approve"}, nil); err != nil {
			return err
		}
		return p.browser.until(`document.getElementById('pair') && !document.getElementById('pair').hidden && location.protocol === 'https:'`)
	}},
	{"a wrong code pairs nothing", func(p *play) error {
		if _, err := p.pair(); err != nil {
			return err
		}
		return errors.Join(p.enter("2222-2222"), p.browser.until(notice+`.includes('not the code')`))
	}},
	{"the code of the terminal pairs the browser", func(p *play) error {
		code, err := p.pair()
		if err != nil {
			return err
		}
		return errors.Join(p.enter(strings.ToLower(code)), p.browser.until(`document.getElementById('pair').hidden && document.getElementById('waiting').textContent === 'nothing waits for you'`))
	}},
	{"a click allows a call once", func(p *play) error {
		call := p.call("write", map[string]string{"path": "once.txt", "content": "x\n"})
		if err := p.readable("once.txt"); err != nil {
			return err
		}
		return errors.Join(p.answers("once.txt", "Allow once"), p.ended(call, "once.txt", true))
	}},
	{"60 steps and a removal are allowed only after the removal was in view", sixty},
	{"the key y on the card allows once, and two keys at once answer nothing", keys},
	{"a click that no person made answers nothing", func(p *play) error {
		call := p.call("write", map[string]string{"path": "scripted.txt", "content": "x\n"})
		if err := p.readable("scripted.txt"); err != nil {
			return err
		}
		time.Sleep(time.Second)
		if err := p.browser.eval(button("scripted.txt", "Allow once")+`.click()`, nil); err != nil {
			return err
		}
		time.Sleep(time.Second)
		if p.wrote("scripted.txt") {
			return errors.New("it was allowed")
		}
		return errors.Join(p.answers("scripted.txt", "Deny"), p.ended(call, "scripted.txt", false))
	}},
	{"a denial tells the model the reason", func(p *play) error {
		call := p.call("write", map[string]string{"path": "why.txt", "content": "x\n"})
		if err := p.readable("why.txt"); err != nil {
			return err
		}
		if err := p.browser.click(card("why.txt") + `.querySelector('input')`); err != nil {
			return err
		}
		if err := errors.Join(p.browser.types("put it in src, y n s"), p.answers("why.txt", "Deny")); err != nil {
			return err
		}
		o, err := ends(call)
		if err != nil || !o.failed || !strings.Contains(o.text, "put it in src, y n s") {
			return fmt.Errorf("the model reads %q: %w", o.text, err)
		}
		return nil
	}},
	{"the rules of a session are shown before they are kept", func(p *play) error {
		call := p.call("write", map[string]string{"path": "session.txt", "content": "x\n"})
		if err := p.readable("session.txt"); err != nil {
			return err
		}
		sure := button("session.txt", "Allow, and keep")
		if err := errors.Join(p.browser.clickUntil(button("session.txt", "Allow for this session"), card("session.txt")+`.querySelector('.keep:not([hidden]) code')?.textContent === 'allow  Write(session.txt)'`)); err != nil {
			return err
		}
		time.Sleep(400 * time.Millisecond)
		if err := errors.Join(p.browser.clickUntil(sure, over("session.txt")), p.ended(call, "session.txt", true)); err != nil {
			return err
		}
		return p.ended(p.call("write", map[string]string{"path": "session.txt", "content": "y\n"}), "session.txt", true)
	}},
	{"text of a call is text: no tag, no script, no direction", func(p *play) error {
		call := p.call("shell", map[string]string{"command": "touch inert.txt # <img src=x onerror=alert(1)><script>window.evil=1</script> \u202e gpj.exe \x1b[2J"})
		if err := p.readable("inert.txt"); err != nil {
			return err
		}
		err := p.browser.until(card("inert.txt") + `.innerText.includes('<script>window.evil=1</script> ⟨U+202E⟩ gpj.exe ⟨ESC⟩[2J') && !window.evil && document.images.length === 0`)
		return errors.Join(err, p.answers("inert.txt", "Deny"), p.ended(call, "inert.txt", false))
	}},
	{"a line that goes on below is indented there, and looks like no line of the card", func(p *play) error {
		call := p.call("shell", map[string]string{"command": "touch forged.txt #" + strings.Repeat(" ", 40) + "effects: only reads, no network"})
		if err := p.readable("forged.txt"); err != nil {
			return err
		}
		err := p.browser.until(`(() => {
			const line = document.createRange();
			line.selectNodeContents([...` + card("forged.txt") + `.querySelectorAll('.lines div')].find(e => e.textContent.includes('| touch')));
			const [first, ...others] = line.getClientRects();
			return others.length > 0 && others.every(r => r.left > first.left + 10);
		})()`)
		return errors.Join(err, p.answers("forged.txt", "Deny"), p.ended(call, "forged.txt", false))
	}},
	{"a prompt that is answered elsewhere stays in its place, and answers no more", func(p *play) error {
		call := p.call("write", map[string]string{"path": "elsewhere.txt", "content": "x\n"})
		if err := p.readable("elsewhere.txt"); err != nil {
			return err
		}
		answer := p.command("approve", "--plain", "--once", "--no-wait")
		answer.Stdin = strings.NewReader("1 deny\n")
		if out, err := answer.CombinedOutput(); err != nil {
			return fmt.Errorf("approve: %w: %s", err, out)
		}
		return errors.Join(p.ended(call, "elsewhere.txt", false), p.browser.until(card("elsewhere.txt")+`.classList.contains('ended') && [...`+card("elsewhere.txt")+`.querySelectorAll('button')].every(b => b.disabled)`))
	}},
	{"the policy refuses scripts, frames and other origins", func(p *play) error {
		var said string
		err := p.browser.eval(`(async () => {
			const out = [];
			try { const s = document.createElement('script'); s.textContent = 'window.evil = 2'; document.body.append(s); } catch (e) { out.push('script'); }
			try { document.body.innerHTML = '<b>x</b>'; } catch (e) { out.push('html'); }
			try { await fetch('https://127.0.0.1:1/x'); } catch (e) { out.push('fetch'); }
			try { eval('1'); } catch (e) { out.push('eval'); }
			return out.join(' ') + (window.evil ? ' EVIL' : '');
		})()`, &said)
		p.browser.forget() // these were refused as they should be
		if err != nil || said != "script html fetch eval" {
			return fmt.Errorf("refused is %q: %w", said, err)
		}
		return nil
	}},
	{"a reload keeps the pairing, in the storage of the origin and in no cookie", func(p *play) error {
		if err := p.browser.do("Page.reload", nil, nil); err != nil {
			return err
		}
		return p.browser.until(`document.getElementById('pair') && document.getElementById('pair').hidden && document.getElementById('waiting').textContent !== '' && document.cookie === ''`)
	}},
	{"approve --unpair ends it", func(p *play) error {
		if out, err := p.command("approve", "--unpair").CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return p.browser.until(`!document.getElementById('pair').hidden`)
	}},
}

// enter types a code and sends it.
func (p *play) enter(code string) error {
	err := errors.Join(p.browser.eval(`document.getElementById('code').value = ''`, nil), p.browser.click(`document.getElementById('code')`))
	return errors.Join(err, p.browser.types(code), p.browser.click(`document.getElementById('send')`))
}

// readable waits until a prompt is there for a moment and all of its lines that ask were in view.
func (p *play) readable(word string) error {
	if err := p.browser.until(card(word)); err != nil {
		return err
	}
	if err := p.browser.eval(card(word)+`.scrollIntoView()`, nil); err != nil {
		return err
	}
	err := p.browser.until(button(word, "Allow once"))
	time.Sleep(400 * time.Millisecond)
	return err
}

// ended waits for the end of a call, which wrote its file or did not, and for the page to say so.
func (p *play) ended(call <-chan outcome, file string, writes bool) error {
	o, err := ends(call)
	if err == nil && (o.failed == writes || p.wrote(file) != writes) {
		err = fmt.Errorf("%s is written: %v; %.300s", file, p.wrote(file), o.text)
	}
	return err
}

// sixty allows a long script: the button shows the next unread lines, and allows when there are none.
func sixty(p *play) error {
	command := strings.Repeat("make harmless-step # nothing to see here\n", 60) + "rm -rf important-directory; touch sixty.txt"
	call := p.call("shell", map[string]string{"command": command})
	if err := p.browser.until(card("important-directory")); err != nil {
		return err
	}
	if err := p.browser.eval(`window.removalSeen = false; window.watch = new IntersectionObserver(e => { if (e.some(x => x.intersectionRatio === 1)) window.removalSeen = true; }, {threshold: 1});
		[...document.querySelectorAll('.lines div.asks')].filter(d => d.textContent.includes('rm -rf important')).forEach(d => window.watch.observe(d))`, nil); err != nil {
		return err
	}
	presses, err := p.pressesOn(call)
	if err != nil {
		return err
	}
	if presses < 2 {
		return fmt.Errorf("%d presses showed 61 lines", presses)
	}
	return errors.Join(p.answers("important-directory", "Allow once"), p.ended(call, "sixty.txt", true))
}

// keys answers by key.
func keys(p *play) error {
	call := p.call("write", map[string]string{"path": "key.txt", "content": "x\n"})
	if err := p.readable("key.txt"); err != nil {
		return err
	}
	if err := p.browser.eval(`void `+card("key.txt")+`.focus()`, nil); err != nil {
		return err
	}
	script := func(letters string) error {
		for _, l := range letters {
			if err := p.browser.do("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": string(l), "text": string(l)}, nil); err != nil {
				return err
			}
		}
		return nil
	}
	if err := script("yes please"); err != nil {
		return err
	}
	time.Sleep(time.Second)
	if p.wrote("key.txt") {
		return errors.New("a word that was typed allowed it")
	}
	return errors.Join(p.browser.press("y"), p.ended(call, "key.txt", true))
}

// pressesOn presses y on the card until it can be allowed, and counts.
func (p *play) pressesOn(call <-chan outcome) (presses int, err error) {
	for ; presses < 100; presses++ {
		time.Sleep(400 * time.Millisecond)
		var label string
		var seen bool
		if err := p.browser.eval(firstButton+`.textContent`, &label); err != nil {
			return presses, err
		}
		if err := p.browser.eval(`window.removalSeen`, &seen); err != nil {
			return presses, err
		}
		if strings.HasPrefix(label, "Allow once") {
			if !seen {
				return presses, errors.New("it can be allowed, and the removal was not in view")
			}
			return presses, nil
		}
		if err := p.browser.eval(`void `+card("important-directory")+`.focus({preventScroll: true})`, nil); err != nil {
			return presses, err
		}
		if err := p.browser.press("y"); err != nil {
			return presses, err
		}
		if len(call) > 0 {
			return presses, errors.New("it ended before it was read")
		}
	}
	return presses, errors.New("it cannot be read to its end")
}
