package encoding

import (
	"bytes"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Recognition says which encoding a content has.
type Recognition struct {
	Encoding Encoding
	Mark     bool // the content begins with the byte order mark of Encoding

	// Decoding holds every encoding that the content may have: with a legacy encoding all of the list that decode it, Encoding among
	// them; else Encoding alone. It is empty for Binary and ISO2022.
	Decoding []Encoding

	// Guard is a further encoding whose characters no change may cut, Binary for none: the caller has declared another one than the content
	// seems to have, and may be wrong.
	Guard Encoding

	// Mixed says that Encoding is Windows1252 only because no other decodes the content: it has bytes that are no characters there, or
	// characters of UTF-8.
	Mixed bool
}

// Declared returns the recognition of a content that begins with head, and of which the caller knows that its encoding is e.
func Declared(e Encoding, head []byte) Recognition {
	mark := e.Mark()
	return Recognition{Encoding: e, Mark: mark != "" && bytes.HasPrefix(head, []byte(mark)), Decoding: []Encoding{e}}
}

// Contradicted returns the encoding that raw seems to have, where a caller has declared another one, e; Binary for none. It is a [Recognition]'s
// Guard.
func Contradicted(e Encoding, raw []byte) Encoding {
	guess := Recognise(raw)
	if guess.Encoding == e || guess.Mixed || e.IsUTF16() || guess.Encoding != UTF8 && !guess.Encoding.IsLegacy() {
		return Binary
	}
	return guess.Encoding
}

// Recognise returns the encoding of a whole content by the rule of the package.
func Recognise(raw []byte) Recognition {
	var d Detector
	d.Add(raw)
	return d.End()
}

// Text returns raw, the content that was recognised, as UTF-8 without its byte order mark. It may share raw's memory. ok is false if some
// bytes are no character.
func (r Recognition) Text(raw []byte) (text []byte, ok bool) {
	return r.Encoding.Decode(r.Body(raw))
}

// Body returns raw without its byte order mark.
func (r Recognition) Body(raw []byte) []byte {
	if r.Mark {
		return raw[len(r.Encoding.Mark()):]
	}
	return raw
}

// Detector recognises the encoding of a content that is added in chunks of any size. It keeps some kilobytes. The zero value is ready.
type Detector struct {
	head    []byte // the first bytes, at most 3
	started bool   // the candidates are there: head is complete
	marked  Encoding

	nul     bool
	ascii   bool // no byte is above 0x7F
	utf8    utf8Check
	escapes escapeCheck
	utf16   [2]utf16Check
	legacy  []legacyCheck
	western westernCheck
}

// Add adds the next chunk, and reports whether more of the content can change the result.
func (d *Detector) Add(chunk []byte) (more bool) {
	if !d.started {
		if len(d.head)+len(chunk) < 3 && len(chunk) > 0 {
			d.head = append(d.head, chunk...)
			return true
		}
		chunk = append(d.head, chunk...)
		d.start(chunk)
	}
	if !d.nul && bytes.IndexByte(chunk, 0) >= 0 {
		d.nul = true
	}
	switch d.marked {
	case UTF16LE:
		d.utf16[0].add(chunk)
		return d.utf16[0].decodes
	case UTF16BE:
		d.utf16[1].add(chunk)
		return d.utf16[1].decodes
	}
	for i := range d.utf16 {
		d.utf16[i].add(chunk)
	}
	d.utf8.add(chunk)
	if d.nul {
		return d.utf16[0].isText || d.utf16[1].isText
	}
	if d.ascii && ascii(chunk) < len(chunk) {
		d.ascii = false
	}
	d.escapes.add(chunk)
	for i := range d.legacy {
		d.legacy[i].add(chunk)
	}
	d.western.add(chunk)
	return true
}

func (d *Detector) start(head []byte) {
	d.started, d.ascii = true, true
	d.marked = ByMark(head)
	d.utf16 = [2]utf16Check{newUTF16Check(UTF16LE), newUTF16Check(UTF16BE)}
	d.legacy = make([]legacyCheck, 0, len(doubleByte))
	for _, e := range doubleByte {
		d.legacy = append(d.legacy, legacyCheck{encoding: e, decodes: true})
	}
}

// End returns the result. Nothing may be added after it.
func (d *Detector) End() Recognition {
	if !d.started {
		d.Add(nil)
	}
	switch {
	case d.marked.IsUTF16():
		check := &d.utf16[d.marked-UTF16LE]
		if !check.decodes || check.nul || len(check.carry) > 0 {
			return Recognition{}
		}
		return Recognition{Encoding: d.marked, Mark: true, Decoding: []Encoding{d.marked}}
	case d.nul:
		e := d.unmarkedUTF16()
		if e == Binary {
			return Recognition{}
		}
		return Recognition{Encoding: e, Decoding: []Encoding{e}}
	case d.escapes.found && (d.ascii || !d.utf8.valid()):
		return Recognition{Encoding: ISO2022}
	case d.utf8.valid():
		return Recognition{Encoding: UTF8, Mark: d.marked == UTF8, Decoding: []Encoding{UTF8}}
	}
	return d.recogniseLegacy()
}

// unmarkedUTF16 returns the byte order by which the content is text, by the rule of the package, Binary if it is none.
func (d *Detector) unmarkedUTF16() Encoding {
	little, big := &d.utf16[0], &d.utf16[1]
	littleText, bigText := little.text(), big.text()
	switch {
	case littleText && (!bigText || big.ascii == 0 && little.ascii > 0):
		return UTF16LE
	case bigText && (!littleText || little.ascii == 0 && big.ascii > 0):
		return UTF16BE
	}
	return Binary
}

func (d *Detector) recogniseLegacy() Recognition {
	best := Recognition{Encoding: Windows1252, Decoding: []Encoding{Windows1252}}
	western := d.western.end()
	var highest float64
	for i := range d.legacy {
		check := &d.legacy[i]
		if !check.decodes || len(check.carry) > 0 {
			continue
		}
		best.Decoding = append(best.Decoding, check.encoding)
		share := float64(check.points) / float64(2*check.judged)
		if check.judged > 0 && share > highest && share >= western {
			highest = share
			best.Encoding = check.encoding
		}
	}
	best.Mixed = best.Encoding == Windows1252 && (d.western.undefined || d.utf8.sequences)
	return best
}

// utf8Check checks for UTF-8. The zero value has seen nothing.
type utf8Check struct {
	malformed bool
	sequences bool // there are characters of more than one byte
	carry     []byte
}

func (u *utf8Check) add(chunk []byte) {
	if u.malformed && u.sequences {
		return
	}
	if len(u.carry) > 0 {
		chunk = append(u.carry, chunk...)
		u.carry = nil
	}
	for at := 0; at < len(chunk); {
		if at += ascii(chunk[at:]); at == len(chunk) {
			return
		}
		if !utf8.FullRune(chunk[at:]) {
			u.carry = bytes.Clone(chunk[at:])
			return
		}
		c, size := utf8.DecodeRune(chunk[at:])
		if c == utf8.RuneError && size == 1 {
			u.malformed = true
		} else {
			u.sequences = true
		}
		at += size
	}
}

func (u *utf8Check) valid() bool { return !u.malformed && len(u.carry) == 0 }

// escapeCheck looks for the escapes of ISO-2022 that switch to characters of two bytes: ESC, $, and one of @AB()*+. Escapes that
// terminals know, such as ESC ( B, are none. The zero value has seen nothing.
type escapeCheck struct {
	found bool
	tail  []byte // the last bytes, at most 2
}

func (c *escapeCheck) add(chunk []byte) {
	if c.found {
		return
	}
	if len(c.tail) > 0 {
		joint := append(c.tail[:len(c.tail):len(c.tail)], chunk[:min(2, len(chunk))]...)
		c.found = hasEscape(joint)
	}
	c.found = c.found || hasEscape(chunk)
	c.tail = append(c.tail, chunk[max(0, len(chunk)-2):]...)
	c.tail = c.tail[max(0, len(c.tail)-2):]
}

func hasEscape(b []byte) bool {
	for {
		at := bytes.Index(b, []byte("\x1b$"))
		if at < 0 || at+2 >= len(b) {
			return false
		}
		if strings.IndexByte("@AB()*+", b[at+2]) >= 0 {
			return true
		}
		b = b[at+2:]
	}
}

// utf16Check checks for UTF-16 in one byte order.
type utf16Check struct {
	reader  reader
	decodes bool // there are no surrogates without a partner
	isText  bool // and all characters are such as texts have
	nul     bool
	lf      bool // U+000A, which is unassigned in the other byte order
	ascii   int  // characters
	pairs   int  // characters whose two bytes are both printable ASCII
	other   int
	carry   []byte
}

func newUTF16Check(e Encoding) utf16Check {
	return utf16Check{reader: newReader(e), decodes: true, isText: true}
}

func (u *utf16Check) add(chunk []byte) {
	if !u.decodes {
		return
	}
	if len(u.carry) > 0 {
		chunk = append(u.carry, chunk...)
		u.carry = nil
	}
	for at := 0; at < len(chunk); {
		c, size, ok := u.reader.first(chunk[at:])
		if size == 0 {
			u.carry = bytes.Clone(chunk[at:])
			return
		}
		if !ok {
			u.decodes, u.isText = false, false
			return
		}
		at += size
		switch {
		case c == 0:
			u.nul, u.isText = true, false
		case c < utf8.RuneSelf:
			u.ascii++
			u.lf = u.lf || c == '\n'
			u.isText = u.isText && (c >= ' ' && c != 0x7f || c == '\n' || c == '\r' || c == '\t' || c == '\f')
		default:
			if printable(byte(c>>8)) && printable(byte(c)) && c <= 0xffff {
				u.pairs++
			} else {
				u.other++
			}
			u.isText = u.isText && (unicode.IsGraphic(c) || unicode.Is(unicode.Cf, c) && c != 0xfeff)
		}
	}
}

func printable(b byte) bool { return b >= ' ' && b < 0x7f }

// text reports whether the whole content is UTF-16 without a mark.
func (u *utf16Check) text() bool {
	if !u.isText || len(u.carry) > 0 || u.ascii+u.pairs+u.other < 2 {
		return false
	}
	enough := u.ascii >= 3*(u.pairs+u.other) || u.lf && u.ascii*50 >= u.pairs+u.other
	return enough && (u.pairs <= u.other || u.pairs*10 <= u.ascii)
}

// maxJudged is the number of characters, or bytes, by which an encoding is judged likely.
const maxJudged = 10_000

// legacyCheck checks for an encoding with characters of two bytes.
type legacyCheck struct {
	encoding Encoding
	reader   reader
	decodes  bool
	judged   int // characters above ASCII
	points   int // two for a frequent character, one for another of everyday words
	carry    []byte
}

func (l *legacyCheck) add(chunk []byte) {
	if !l.decodes {
		return
	}
	if len(l.carry) > 0 {
		chunk = append(l.carry, chunk...)
		l.carry = nil
	}
	for at := 0; at < len(chunk); {
		if at += ascii(chunk[at:]); at == len(chunk) {
			return
		}
		if l.reader.table == nil {
			l.reader = newReader(l.encoding)
		}
		c, size, ok := l.reader.first(chunk[at:])
		if size == 0 {
			l.carry = bytes.Clone(chunk[at:])
			return
		}
		if !ok {
			l.decodes = false
			return
		}
		if l.judged < maxJudged {
			l.judged++
			if _, often := frequent[l.encoding]()[c]; often {
				l.points += 2
			} else if size == 2 && everyday(l.encoding, chunk[at], chunk[at+1]) {
				l.points++
			}
		}
		at += size
	}
}

// westernCheck judges how likely a content is Windows-1252, which decodes every content. The zero value has seen nothing.
type westernCheck struct {
	undefined bool
	run       []byte // the bytes above ASCII that came last, at most 3
	judged    int
	likely    int
}

func (w *westernCheck) add(chunk []byte) {
	for _, b := range []byte{0x81, 0x8d, 0x8f, 0x90, 0x9d} {
		w.undefined = w.undefined || bytes.IndexByte(chunk, b) >= 0
	}
	for at := 0; at < len(chunk) && w.judged < maxJudged; {
		if n := ascii(chunk[at:]); n > 0 {
			w.endRun()
			at += n
			continue
		}
		w.judged++
		if len(w.run) < 3 {
			w.run = append(w.run, chunk[at])
		}
		at++
	}
}

// endRun judges the bytes between two of ASCII: Western letters and quotes stand alone or in pairs.
func (w *westernCheck) endRun() {
	for _, b := range w.run {
		if len(w.run) < 3 && strings.IndexByte(westernLetters, b) >= 0 {
			w.likely++
		}
	}
	w.run = w.run[:0]
}

// end returns the share of the bytes that are likely.
func (w *westernCheck) end() float64 {
	w.endRun()
	return float64(w.likely) / float64(max(1, w.judged))
}

// westernLetters are the bytes above ASCII that Western texts have in Windows-1252: letters, quotes, dashes and signs.
const westernLetters = "\x80\x85\x8a\x8c\x8e\x91\x92\x93\x94\x95\x96\x97\x99\x9a\x9c\x9e\x9f" +
	"\xa0\xa1\xa3\xa7\xa9\xaa\xab\xae\xb0\xb1\xb2\xb3\xb4\xb5\xb7\xba\xbb\xbc\xbd\xbe\xbf" +
	"\xc0\xc1\xc2\xc3\xc4\xc5\xc6\xc7\xc8\xc9\xca\xcb\xcc\xcd\xce\xcf\xd0\xd1\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda\xdb\xdc\xdd\xde\xdf" +
	"\xe0\xe1\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xeb\xec\xed\xee\xef\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf8\xf9\xfa\xfb\xfc\xfd\xfe\xff"

// everyday reports whether a character with two bytes is among those of everyday words, which the encodings hold in one block.
func everyday(e Encoding, lead, trail byte) bool {
	switch e {
	case ShiftJIS:
		return lead >= 0x89 && lead <= 0x97
	case EUCJP:
		return lead >= 0xb0 && lead <= 0xcf
	case EUCKR:
		return lead >= 0xb0 && lead <= 0xc8 && trail >= 0xa1
	case GBK, GB18030:
		return lead >= 0xb0 && lead <= 0xd7 && trail >= 0xa1
	case Big5:
		return lead >= 0xa4 && lead <= 0xc6
	}
	return false
}

// frequent holds the most frequent characters of the languages that are written in an encoding.
var frequent = [...]func() map[rune]struct{}{
	ShiftJIS: japaneseCharacters, EUCJP: japaneseCharacters, EUCKR: koreanCharacters,
	GBK: simplifiedCharacters, GB18030: simplifiedCharacters, Big5: traditionalCharacters,
}

var (
	japaneseCharacters    = sync.OnceValue(func() map[rune]struct{} { return setOf(kana + japanese100) })
	koreanCharacters      = sync.OnceValue(func() map[rune]struct{} { return setOf(korean200) })
	simplifiedCharacters  = sync.OnceValue(func() map[rune]struct{} { return setOf(simplified300 + chinesePunctuation) })
	traditionalCharacters = sync.OnceValue(func() map[rune]struct{} { return setOf(traditional300 + chinesePunctuation) })
)

func setOf(text string) map[rune]struct{} {
	set := make(map[rune]struct{}, len(text)/3)
	for _, c := range text {
		set[c] = struct{}{}
	}
	return set
}

// The most frequent characters of prose and of comments in programs, in no order. Small hiragana are not among them: their bytes in
// EUC-JP are frequent characters of Big5.
const (
	chinesePunctuation = "。，、：；？！（）「」『』《》【】"
	kana               = "あいうえおかがきぎくぐけげこごさざしじすずせぜそぞただちぢっつづてでとどなにぬねのはばぱひびぴふぶぷへべぺほぼぽまみむめもやゆよらりるれろわをん" +
		"ァアィイゥウェエォオカガキギクグケゲコゴサザシジスズセゼソゾタダチヂッツヅテデトドナニヌネノハバパヒビピフブプヘベペホボポマミムメモャヤュユョヨラリルレロワヲンヴヵヶー、。「」・（）"
	japanese100 = "日本語人一大年中文字会行国出上生学者時分見月事気間前後自社地方手合場高用名数値変関処理設定表示能予十入力使用取得実装確認更新追加削除検索作成対象以下内容要素型引戻返必結果開始終了" +
		"今金何子長東京小山田思言私彼来食話家道水電車第目度多少無有不可同全部書読込説明注意参照"
	korean200 = "이다는을의에가고하지한로기사를은도리인자대정시어나서해스그아라만있것들일수보제전상으장부적여원주니구유면우소과관조공연당모방신동았었게성위되된할세미화물때안중경계국무비선작생실개용오년내회학거려터않없습합입력출문" +
		"열파변함명값류테트녕요데와까야네마저님느통번말음간발래며임드크러치반속진르호록체운재직추양단영민후알강본불"
	simplified300 = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实" +
		"日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名" +
		"真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路" +
		"记据测试错误称注释输返函码户示删除改写读取字符串号值类型默认请"
	traditional300 = "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實" +
		"日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名" +
		"真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路" +
		"記據測試錯誤稱註釋輸返函碼戶示刪除改寫讀取字符串號值類型預設請檔案程功灣"
)
