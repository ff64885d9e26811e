package locale

import (
	"slices"
	"testing"
)

func TestPlain(t *testing.T) {
	for _, name := range []string{"", "C", "POSIX", "C.UTF-8", "C.utf8", "de_DE.UTF-8", "ja_JP.utf8", "sr_RS.UTF-8@latin", "en_US.Utf-8"} {
		if !Plain(name) {
			t.Errorf("%q is not plain", name)
		}
	}
	for _, name := range []string{"zh_CN", "zh_CN.GBK", "zh_CN.GB18030", "zh_TW", "zh_TW.Big5", "ja_JP.SJIS", "ja_JP.eucJP", "ko_KR.euckr", "de_DE", "de_DE@euro",
		"de_DE.ISO-8859-1", "japanese", "/tmp/x.UTF-8", "../x.UTF-8", "zh_CN.GBK@UTF-8", "zh_CN.UTF-8@../x", ".UTF-8", "UTF-8", "c", "posix", "zh_CN.UTF-8.GBK", "x y.UTF-8"} {
		if Plain(name) {
			t.Errorf("%q is plain", name)
		}
	}
}

func TestEnviron(t *testing.T) {
	tests := []struct {
		name      string
		env, want []string
	}{
		{"plain ones stay", []string{"LANG=de_DE.UTF-8", "LC_ALL=C", "A=zh_CN.GBK"}, []string{"LANG=de_DE.UTF-8", "LC_ALL=C", "A=zh_CN.GBK"}},
		{"another character set", []string{"LANG=zh_CN.GBK"}, []string{"LANG=C.UTF-8", "LANGUAGE=zh_CN:zh"}},
		{"an alias", []string{"LC_ALL=japanese", "LANG=ja_JP.SJIS"}, []string{"LC_ALL=C.UTF-8", "LANG=C.UTF-8"}},
		{"only the character set", []string{"LC_CTYPE=zh_TW", "LANG=C.UTF-8"}, []string{"LC_CTYPE=C.UTF-8", "LANG=C.UTF-8"}},
		{"a language of messages that is set", []string{"LANG=zh_CN", "LANGUAGE=fr"}, []string{"LANG=C.UTF-8", "LANGUAGE=fr"}},
		{"one that is empty", []string{"LANG=de", "LANGUAGE="}, []string{"LANG=C.UTF-8", "LANGUAGE=de"}},
		{"messages in English stay so", []string{"LC_ALL=C", "LANG=zh_CN"}, []string{"LC_ALL=C", "LANG=C.UTF-8"}},
		{"any category", []string{"LC_TIME=ja_JP", "LC_X=ja_JP"}, []string{"LC_TIME=C.UTF-8", "LC_X=C.UTF-8"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			given := slices.Clone(tt.env)
			if got := Environ(tt.env); !slices.Equal(got, tt.want) || !slices.Equal(tt.env, given) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
