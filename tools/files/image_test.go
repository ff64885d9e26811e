package files

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
	"toolhost/tools/encoding"
)

// gradient is an image whose neighbouring pixels differ.
func gradient(width, height int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		img.SetNRGBA(i%width, i/width, color.NRGBA{uint8(i), uint8(i / 7), uint8(i / width), 255})
	}
	return img
}

func pngOf(t testing.TB, img image.Image) string {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func jpegOf(t testing.TB, img image.Image) string {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// gifOf returns a GIF with so many frames.
func gifOf(t testing.TB, width, height, frames int) string {
	animation := &gif.GIF{}
	for n := range frames {
		frame := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.White, color.RGBA{200, 0, 0, 255}})
		for i := range frame.Pix {
			frame.Pix[i] = uint8((i + n) % 3)
		}
		animation.Image, animation.Delay = append(animation.Image, frame), append(animation.Delay, 1)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, animation); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// lossless is a WebP of one pixel.
const lossless = "RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"

// pngHeader is a PNG that claims these dimensions and holds no pixels.
func pngHeader(width, height uint32, depth byte) string {
	chunk := func(kind string, data []byte) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
		b = append(append(b, kind...), data...)
		return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
	}
	size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	b := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(size, depth, 2, 0, 0, 0))...)
	return string(append(b, chunk("IEND", nil)...))
}

// readImage reads a file and returns the image that was sent, if any, and the text.
func (p *project) readImage(name string) (sent *agenttool.Content, text string) {
	p.t.Helper()
	out, err := p.run("read", in{"path": name})
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	for i, b := range out.Content {
		if b.Type == "image" {
			sent = &out.Content[i]
		}
	}
	return sent, out.Content[0].Text
}

// sentImage decodes what was sent.
func sentImage(t testing.TB, sent *agenttool.Content) image.Image {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(sent.Data)
	if err != nil {
		t.Fatal(err)
	}
	img, format, err := image.Decode(bytes.NewReader(data))
	if err != nil || "image/"+format != sent.MediaType {
		t.Fatalf("sent as %s is %s, %v", sent.MediaType, format, err)
	}
	return img
}

func TestReadImage(t *testing.T) {
	conform.Held(t, "AT-263")
	p := newProject(t, Options{})
	for _, tt := range []struct{ name, content, media, sentAs, text string }{
		{"a.png", pngOf(t, gradient(30, 20)), "image/png", "image/png", "30×20 pixels]"},
		{"a.jpg", jpegOf(t, gradient(30, 20)), "image/jpeg", "image/jpeg", "30×20 pixels]"},
		{"a.webp", lossless, "image/webp", "image/webp", "1×1 pixels]"},
		{"a JPEG by another name.png", jpegOf(t, gradient(3, 2)), "image/jpeg", "image/jpeg", "3×2 pixels]"},
		{"a.gif", gifOf(t, 30, 20, 1), "image/gif", "image/png", "30×20 pixels, sent as PNG]"},
		{"moving.gif", gifOf(t, 30, 20, 12), "image/gif", "image/png", "30×20 pixels, the first of 12 frames sent as PNG]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.put(tt.name, tt.content)
			sent, text := p.readImage(tt.name)
			if sent == nil || sent.MediaType != tt.sentAs || !strings.HasSuffix(text, tt.text) {
				t.Fatalf("sent %v, %q", sent, text)
			}
			sentImage(t, sent)
			if data, _ := base64.StdEncoding.DecodeString(sent.Data); tt.media == tt.sentAs && string(data) != tt.content {
				t.Error("what was sent is not the file")
			}
			if r, _ := p.read(tt.name); r.Kind != "image" || r.MediaType != tt.media {
				t.Errorf("kind %s, media type %s", r.Kind, r.MediaType)
			}
		})
	}
	p.put("i", "GIF89a is how a GIF begins\n")
	if r, _ := p.read("i"); r.Kind != "text" {
		t.Errorf("text about images is %s", r.Kind)
	}
}

// TestUnsentImages: a provider that refuses one image refuses the conversation from then on. So what it would refuse is described, with a way on.
func TestUnsentImages(t *testing.T) {
	noise := image.NewNRGBA(image.Rect(0, 0, 1100, 1100))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(random.Uint32())
	}
	whole := pngOf(t, gradient(30, 20))
	jpg := jpegOf(t, gradient(30, 20))
	wide := pngOf(t, image.NewGray(image.Rect(0, 0, 9000, 10)))
	withoutPixels := strings.Replace(gifOf(t, 3, 3, 1), "\x03\x00\x03\x00", "\x00\x00\x00\x00", 1)
	damaged := []byte(whole)
	damaged[len(damaged)/2] ^= 1
	animated := lossless[:8] + "WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x01\x00\x00" + lossless[12:]
	animated = animated[:4] + string(binary.LittleEndian.AppendUint32(nil, uint32(len(animated)-8))) + animated[8:]
	for _, tt := range []struct{ name, content, want string }{
		{"cut.png", whole[:40], "it ends too early"},
		{"signature.png", "\x89PNG\r\n\x1a\n", "it ends too early"},
		{"without its last byte.png", whole[:len(whole)-1], "it ends too early"},
		{"without pixels.png", pngHeader(0, 0, 8), "it is broken"},
		{"no data.png", pngHeader(3, 3, 8), "it is broken"},
		{"one bit differs.png", string(damaged), "it is broken"},
		{"cut.jpg", jpg[:len(jpg)-2], "it ends too early"},
		{"head.jpg", "\xff\xd8\xff\xe0\x00\x10JFIF", "it ends too early"},
		{"head.gif", "GIF89a\x01\x00\x01\x00", "it ends too early"},
		{"0×0.gif", withoutPixels, "it is broken: it has 0×0 pixels"},
		{"cut.webp", lossless[:len(lossless)-1], "it ends too early"},
		{"head.webp", "RIFF\x10\x00\x00\x00WEBPVP", "it ends too early"},
		{"animated.webp", animated, "it is animated"},
		{"wide.png", wide, "of its 9000×10 pixels, models take no more than 8,000 a side"},
		{"bomb.png", pngHeader(60_000, 60_000, 8), "8,000 a side"},
		{"deep bomb.png", pngHeader(5000, 5000, 16), "would take more than 128 MiB of memory"},
		{"large.png", whole + strings.Repeat("\x00", 6<<20), "it has more than 5 MiB"},
		{"noise.png", pngOf(t, noise), "no more than 5 MiB of base64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put(tt.name, tt.content)
			sent, text := p.readImage(tt.name)
			if sent != nil || !strings.Contains(text, tt.want) || !strings.Contains(text, "In the shell, this shows ") {
				t.Errorf("sent: %v; %q", sent != nil, text)
			}
			if r, _ := p.read(tt.name); r.Kind != "image" || r.shownPage != nil {
				t.Errorf("kind %s", r.Kind)
			}
		})
	}
}

// TestLargeImagesAreScaled: once a request has more than 20 images, Anthropic refuses all of them if one has more than 2,000 pixels a side.
func TestLargeImagesAreScaled(t *testing.T) {
	exif := "Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
	photo := jpegOf(t, gradient(2100, 4200))
	photo = photo[:2] + "\xff\xe1" + string(binary.BigEndian.AppendUint16(nil, uint16(len(exif)+2))) + exif + photo[2:]
	for _, tt := range []struct {
		name, content, sentAs string
		width, height         int
		text                  string
	}{
		{"small enough.png", pngOf(t, gradient(2000, 30)), "image/png", 2000, 30, "2000×30 pixels]"},
		{"screen.png", pngOf(t, gradient(3840, 2160)), "image/png", 2000, 1125, "3840×2160 pixels, scaled to 2000×1125]"},
		{"line.png", pngOf(t, gradient(8000, 1)), "image/png", 2000, 1, "scaled to 2000×1]"},
		{"photo.jpg", photo, "image/jpeg", 1000, 2000, "2100×4200 pixels, scaled to 1000×2000]"},
		{"large.gif", gifOf(t, 2500, 500, 1), "image/png", 2000, 400, "2500×500 pixels, sent as PNG, scaled to 2000×400]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put(tt.name, tt.content)
			sent, text := p.readImage(tt.name)
			if sent == nil || sent.MediaType != tt.sentAs || !strings.HasSuffix(text, tt.text) {
				t.Fatalf("%q", text)
			}
			if b := sentImage(t, sent).Bounds(); b.Dx() != tt.width || b.Dy() != tt.height {
				t.Errorf("sent with %v", b)
			}
			if data, _ := base64.StdEncoding.DecodeString(sent.Data); strings.Contains(tt.content, "Exif") != bytes.Contains(data, []byte(exif)) {
				t.Error("the side that is up was lost")
			}
		})
	}
}

// TestScalingAverages: each pixel counts in the image that is sent, so that lines of one pixel do not vanish.
func TestScalingAverages(t *testing.T) {
	stripes := image.NewGray(image.Rect(0, 0, 8000, 8))
	for i := range stripes.Pix {
		stripes.Pix[i] = uint8(i%4/3) * 255 // one of four columns is white
	}
	small := scaled(stripes)
	for x := range small.Bounds().Dx() {
		if r, _, _, _ := small.At(x, 0).RGBA(); r>>8 < 60 || r>>8 > 68 {
			t.Fatalf("column %d is %d, want about 64", x, r>>8)
		}
	}
}

// TestTruncatedImages: no beginning of an image is sent in its place, wherever it was cut.
func TestTruncatedImages(t *testing.T) {
	images := map[string]string{
		"png": pngOf(t, gradient(23, 17)), "jpeg": jpegOf(t, gradient(23, 17)), "webp": lossless,
		"gif": gifOf(t, 23, 17, 1), "moving gif": gifOf(t, 9, 7, 3),
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Logf("the images of Go are not tried: %v", err)
	}
	for _, name := range []string{"video-001.progressive.jpeg", "video-001.q50.410.jpeg", "video-001.restart2.jpeg", "video-001.interlaced.gif", "video-001.5bpp.gif", "video-001.png"} {
		if data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "src", "image", "testdata", name)); err == nil {
			images[name] = string(data)
		} else {
			t.Logf("not tried: %v", err)
		}
	}
	for name, whole := range images {
		t.Run(name, func(t *testing.T) {
			media := imageType(&content{held: []byte(whole), cachedSurvey: cachedSurvey{form: form{encoding: encoding.Binary}}})
			if _, err := decodePicture(t.Context(), []byte(whole), media, maxDecoded); err != nil {
				t.Fatalf("whole: %v", err)
			}
			step := 1 + len(whole)/400
			for n := len(whole) - 1; n > 0; n -= step {
				if _, err := decodePicture(t.Context(), []byte(whole[:n]), media, maxDecoded); err == nil {
					t.Fatalf("%d bytes of %d are sent", n, len(whole))
				}
			}
		})
	}
}

// TestMemoryOfImages: where memory is limited, an image that takes more of it is described.
func TestMemoryOfImages(t *testing.T) {
	p := newProject(t, Options{Memory: 16 << 20})
	p.put("a.png", pngOf(t, image.NewNRGBA(image.Rect(0, 0, 1900, 1900))))
	if sent, text := p.readImage("a.png"); sent != nil || !strings.Contains(text, "more than 4 MiB of memory") {
		t.Errorf("sent: %v; %q", sent != nil, text)
	}
	p.put("b.png", pngOf(t, gradient(900, 900)))
	if sent, text := p.readImage("b.png"); sent == nil {
		t.Errorf("not sent: %q", text)
	}
}

// TestImagesThatTakeLong: an image ends with its call, however much its decoder would do for each of its bytes.
func TestImagesThatTakeLong(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := decodePicture(ctx, emptyScans(4000), "image/jpeg", maxDecoded)
	if took := time.Since(begun); ctx.Err() == nil || err != ctx.Err() || took > 20*time.Second {
		t.Errorf("%v after %v", err, took)
	}
}

// emptyScans returns a progressive JPEG of that many rows and columns, with scans that say for thousands of blocks in three bytes that they are empty.
func emptyScans(side uint16) []byte {
	b := []byte{0xff, 0xd8, 0xff, 0xdb, 0, 67, 0}
	b = append(b, bytes.Repeat([]byte{1}, 64)...)
	b = append(b, 0xff, 0xc2, 0, 11, 8)
	b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, side), side)
	b = append(b, 1, 1, 0x11, 0)
	b = append(b, 0xff, 0xc4, 0, 20, 0x00, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) // DC: "0" is no difference
	b = append(b, 0xff, 0xc4, 0, 20, 0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xe0)
	blocks := int(side+7) / 8 * (int(side+7) / 8)
	scan := []byte{0xff, 0xda, 0, 8, 1, 1, 0x00, 1, 63, 0}
	bits, used := uint32(0), 0
	put := func(value uint32, n int) {
		for i := n - 1; i >= 0; i-- {
			bits, used = bits<<1|value>>i&1, used+1
			if used == 8 {
				scan = append(scan, byte(bits))
				if byte(bits) == 0xff {
					scan = append(scan, 0)
				}
				bits, used = 0, 0
			}
		}
	}
	for left := blocks; left > 0; left -= 1 << 14 {
		put(0, 1) // the only code: a run of 2^14 blocks and what follows in 14 bits
		put(0, 14)
	}
	for used != 0 {
		put(1, 1)
	}
	for len(b) < 3<<20 {
		b = append(b, scan...)
	}
	return append(b, 0xff, 0xd9)
}

func FuzzDecodePicture(f *testing.F) {
	for _, seed := range []string{pngOf(f, gradient(5, 4)), jpegOf(f, gradient(5, 4)), gifOf(f, 5, 4, 2), lossless} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		media := imageType(&content{held: data, cachedSurvey: cachedSurvey{form: form{encoding: encoding.Binary}}})
		if media == "" {
			return
		}
		sent, err := decodePicture(t.Context(), data, media, 8<<20)
		if err != nil {
			return
		}
		img, format, err := image.Decode(bytes.NewReader(sent.data))
		if err != nil || "image/"+format != sent.mediaType || img.Bounds().Dx() > sentSide || img.Bounds().Dy() > sentSide {
			t.Errorf("sent as %s: %s, %v", sent.mediaType, format, err)
		}
	})
}
