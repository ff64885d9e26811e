package files

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"iter"
	"net/http"
	"slices"
	"time"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/tools/encoding"
)

// Limits of images. A provider that refuses one image refuses each later request of that conversation, because all of them
// contain it. So an image is sent only if it decodes to its end, and is within the smallest of the limits that Anthropic, OpenAI
// and Gemini document:
//
//   - Anthropic: PNG, JPEG, GIF, WebP; 5 MB of base64; 8,000 pixels a side, or 2,000 if a request has more than 20 images,
//     which is not known when the first of them is sent.
//   - OpenAI: PNG, JPEG, WebP, GIF with one frame.
//   - Gemini: PNG, JPEG, WebP, no GIF; 7 MB a file.
const (
	maxImage     = 5 << 20          // bytes of an image file, unless Options.Memory sets a smaller bound
	maxImageData = 5 << 20          // characters of its base64
	maxSide      = 8000             // pixels; an image between sentSide and maxSide is scaled, a larger one is not sent
	sentSide     = 2000             // pixels of the longer side of an image that is sent
	maxDecoded   = 128 << 20        // bytes that decoding may take, unless Options.Memory sets a smaller bound
	decodeTime   = 10 * time.Second // a JPEG of thousands of empty scans takes hours
)

// imageFormats are the decoders by media type. Images of other types are named, and not decoded.
var imageFormats = map[string]struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}{
	"image/png":  {png.DecodeConfig, png.Decode},
	"image/jpeg": {jpeg.DecodeConfig, jpeg.Decode},
	"image/gif":  {gif.DecodeConfig, gif.Decode},
	"image/webp": {webp.DecodeConfig, webp.Decode},
}

// picture is an image as it is sent.
type picture struct {
	data      []byte
	mediaType string
	text      string // the dimensions, and what was done to it
}

// imageType returns the media type of a content that is an image to decode, "" for any other.
func imageType(c *content) string {
	if c.form.encoding == encoding.UTF8 {
		return ""
	}
	media := http.DetectContentType(c.head())
	if _, ok := imageFormats[media]; !ok {
		return ""
	}
	return media
}

// showImage returns the image as a block, or says why it is not sent and how it can be seen all the same.
func (c *readCall) showImage(ctx context.Context, held *content, media string, result readResult) (agenttool.Output, error) {
	result.Kind, result.MediaType = "image", media
	sent, err := c.picture(ctx, held, media)
	if unsent, ok := errors.AsType[*unsentError](err); ok {
		out, err := output(result, "%s (%s, %s bytes) is an image that is not sent: %s%s", c.spelling(), media,
			count.Thousands(held.size), unsent.why, c.wayOn(unsent.ways))
		out.Content = append(out.Content, c.fileBlock(result))
		return out, err
	}
	if err != nil {
		return agenttool.Output{}, ioFailure("read", c.spelling(), err)
	}
	out, err := output(result, "%s: %s, %s bytes, %s", c.spelling(), media, count.Thousands(held.size), sent.text)
	out.Content = append(out.Content, agenttool.Content{
		Type: "image", Data: base64.StdEncoding.EncodeToString(sent.data), MediaType: sent.mediaType,
	})
	return out, err
}

// picture returns what is sent of an image. An unsentError says why it is not sent.
func (c *readCall) picture(ctx context.Context, held *content, media string) (*picture, error) {
	if limit := c.options.share(16, maxImage); held.size > limit {
		return nil, &unsentError{fmt.Sprintf("it has more than %d MiB", limit>>20), smallerCopy}
	}
	data, err := held.all()
	if errors.Is(err, errMoved) {
		return nil, c.changed()
	}
	if err != nil {
		return nil, err
	}
	select { // one at a time: each may take maxDecoded
	case c.decoding <- struct{}{}:
		defer func() { <-c.decoding }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return decodePicture(ctx, data, media, c.options.share(4, maxDecoded))
}

// unsentError says why an image is not sent.
type unsentError struct {
	why  string
	ways []way // that help
}

func (e *unsentError) Error() string { return e.why }

// oversized returns the error for a valid image that is too large to decode here, or for a model.
func oversized(format string, args ...any) error {
	return &unsentError{fmt.Sprintf(format, args...), smallerCopy}
}

// broken returns the error for an image that no decoder should accept.
func broken(format string, args ...any) error {
	return &unsentError{"it is broken: " + fmt.Sprintf(format, args...), firstBytes}
}

// undecodable returns the error for an image that its decoder refused with err.
func undecodable(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return broken("it ends too early")
	}
	return broken("%v", err)
}

// decodePicture decodes an image to its end and returns what is sent of it. It takes about memory bytes at most. The error is an
// unsentError, or that of the context.
func decodePicture(ctx context.Context, data []byte, media string, memory int64) (*picture, error) {
	frames := 1
	var err error
	switch media { // checks that the decoders do not make
	case "image/webp":
		err = checkWebP(data)
	case "image/gif":
		frames, err = countFrames(data)
	}
	if err != nil {
		return nil, err
	}
	config, err := imageFormats[media].config(bytes.NewReader(data))
	if err != nil {
		return nil, undecodable(err)
	}
	width, height := int64(config.Width), int64(config.Height)
	if width <= 0 || height <= 0 {
		return nil, broken("it has %d×%d pixels", width, height)
	}
	if width > maxSide || height > maxSide {
		return nil, oversized("of its %d×%d pixels, models take no more than %s a side", width, height, count.Thousands(maxSide))
	}
	if int64(float64(width*height)*bytesPerPixel(data, media, config)) > memory {
		return nil, oversized("to decode its %d×%d pixels would take more than %d MiB of memory", width, height, memory>>20)
	}
	sent := &picture{data: data, mediaType: media, text: fmt.Sprintf("%d×%d pixels", width, height)}
	if media == "image/gif" {
		sent.text += ", sent as PNG"
		if frames > 1 {
			sent.text = fmt.Sprintf("%d×%d pixels, the first of %s frames sent as PNG", width, height, count.Thousands(frames))
		}
	}
	limited, cancel := context.WithTimeout(ctx, decodeTime)
	defer cancel()
	img, err := imageFormats[media].decode(untilDone{bytes.NewReader(data), limited.Err})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if limited.Err() != nil {
		return nil, oversized("to decode it takes more than %v", decodeTime)
	}
	if err != nil {
		return nil, undecodable(err)
	}
	if screen := image.Rect(0, 0, config.Width, config.Height); media == "image/gif" && img.Bounds() != screen {
		canvas := image.NewRGBA(screen)
		draw.Draw(canvas, img.Bounds(), img, img.Bounds().Min, draw.Src)
		img = canvas
	}
	small := scaled(img)
	if b := small.Bounds(); b != img.Bounds() {
		sent.text += fmt.Sprintf(", scaled to %d×%d", b.Dx(), b.Dy())
	}
	if media == "image/gif" || small.Bounds() != img.Bounds() {
		sent.data, sent.mediaType, err = encodeImage(small, data, media)
		if err != nil {
			return nil, undecodable(err)
		}
	}
	if n := base64.StdEncoding.EncodedLen(len(sent.data)); n > maxImageData {
		return nil, oversized("models take no more than %d MiB of base64, and it has %s bytes (%s)", maxImageData>>20, count.Thousands(n), sent.text)
	}
	return sent, nil
}

// untilDone is a reader that fails once a context has ended, so that a decoder that reads from it ends soon after the context.
type untilDone struct {
	*bytes.Reader
	err func() error // of the context
}

func (r untilDone) Read(p []byte) (int, error) {
	if err := r.err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

func (r untilDone) ReadByte() (byte, error) {
	if err := r.err(); err != nil {
		return 0, err
	}
	return r.Reader.ReadByte()
}

// WriteTo would copy without a look at the context.
func (r untilDone) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{r})
}

// bytesPerPixel estimates how many bytes the decoder of a format takes for each pixel.
func bytesPerPixel(data []byte, media string, config image.Config) float64 {
	switch media {
	case "image/png":
		bytes := 4.0
		switch config.ColorModel {
		case color.RGBA64Model, color.NRGBA64Model:
			bytes = 8
		case color.Gray16Model:
			bytes = 2
		case color.GrayModel:
			bytes = 1
		}
		if _, ok := config.ColorModel.(color.Palette); ok {
			bytes = 1
		}
		if len(data) > 28 && data[28] != 0 { // interlaced: passes that are merged
			bytes *= 2
		}
		return bytes
	case "image/jpeg":
		return jpegBytesPerPixel(data)
	case "image/gif":
		return 5 // a palette's index, and a canvas for a frame that is smaller
	}
	return 8 // WebP: colours, and the same again for transparency or a transformation
}

// jpegBytesPerPixel reads the frame header: a progressive JPEG keeps all coefficients until its last scan.
func jpegBytesPerPixel(data []byte) float64 {
	for marker, segment := range jpegSegments(data) {
		isFrame := marker == 0xc0 || marker == 0xc1 || marker == 0xc2
		if !isFrame || len(segment) < 6 || len(segment) < 6+3*int(segment[5]) {
			continue
		}
		samples, most := 0, 1
		for i := range int(segment[5]) {
			sampling := int(segment[7+3*i]>>4) * int(segment[7+3*i]&15)
			samples += sampling
			most = max(most, sampling)
		}
		bytes := float64(samples) / float64(most)
		if marker == 0xc2 {
			bytes *= 5
		}
		if samples >= 3*most { // may be converted to RGB or CMYK
			bytes += 4
		}
		return bytes
	}
	return 24 // unknown: four full components of a progressive JPEG
}

// jpegSegments are the markers of a JPEG and their segments, up to the first scan.
func jpegSegments(data []byte) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		for at := 2; at+4 <= len(data) && data[at] == 0xff; {
			size := int(binary.BigEndian.Uint16(data[at+2:]))
			end := at + 2 + size
			if size < 2 || end > len(data) || data[at+1] == 0xda || !yield(data[at+1], data[at+4:end]) {
				return
			}
			at = end
		}
	}
}

// countFrames counts the frames of a GIF, which must be whole.
func countFrames(data []byte) (frames int, err error) {
	colors := func(flags byte) int {
		if flags&0x80 == 0 {
			return 0
		}
		return 3 << (1 + flags&7)
	}
	if len(data) < 13 {
		return 0, undecodable(io.ErrUnexpectedEOF)
	}
	at := 13 + colors(data[10])
	for at < len(data) {
		switch data[at] {
		case ';':
			return frames, nil
		case '!': // an extension, with a label
			at += 2
		case ',': // a frame: place and size, colours, the width of codes
			if at+10 > len(data) {
				return 0, undecodable(io.ErrUnexpectedEOF)
			}
			at += 10 + colors(data[at+9]) + 1
			frames++
		default:
			return 0, broken("block %#x of frame %d is none of GIF", data[at], frames+1)
		}
		for at < len(data) && data[at] != 0 {
			at += 1 + int(data[at])
		}
		at++
	}
	return 0, undecodable(io.ErrUnexpectedEOF)
}

// checkWebP checks what the decoder of WebP does not: that the file is as long as it says, and not animated.
func checkWebP(data []byte) error {
	if len(data) < 21 || int64(len(data)) < 8+int64(binary.LittleEndian.Uint32(data[4:])) {
		return undecodable(io.ErrUnexpectedEOF)
	}
	if string(data[12:16]) == "VP8X" && data[20]&2 != 0 {
		return &unsentError{"it is animated, which not all models take", firstFrame}
	}
	return nil
}

// scaled returns an image with no side longer than sentSide.
func scaled(img image.Image) image.Image {
	for {
		width, height := img.Bounds().Dx(), img.Bounds().Dy()
		long := max(width, height)
		if long <= sentSide {
			return img
		}
		to := max(sentSide, (long+1)/2) // the scaler averages four points: it would skip some if it did more than halve
		small := image.NewRGBA(image.Rect(0, 0, max(1, width*to/long), max(1, height*to/long)))
		draw.ApproxBiLinear.Scale(small, small.Bounds(), img, img.Bounds(), draw.Src, nil)
		img = small
	}
}

// encodeImage encodes an image that was changed: as JPEG if it was one, which keeps its Exif data because they say which
// side is up, and as PNG otherwise.
func encodeImage(img image.Image, was []byte, media string) (data []byte, mediaType string, err error) {
	var b bytes.Buffer
	if media != "image/jpeg" {
		err := png.Encode(&b, img)
		return b.Bytes(), "image/png", err
	}
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 90}); err != nil {
		return nil, "", err
	}
	data = b.Bytes()
	for marker, segment := range jpegSegments(was) {
		if marker == 0xe1 && bytes.HasPrefix(segment, []byte("Exif\x00")) {
			exif := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(segment)+2))
			data = slices.Concat(data[:2], exif, segment, data[2:])
			break
		}
	}
	return data, media, nil
}
