#include "textflag.h"

// func tallyWide(b *byte, rounds int) (lf int, beyond, zero, returns uint32)
//
// Y0 gathers the high bits of all bytes, Y1 the least byte of each lane, Y2 where a CR is.
TEXT ·tallyWide(SB), NOSPLIT, $0-36
	MOVQ b+0(FP), SI
	MOVQ rounds+8(FP), CX
	MOVQ $0x0a0a0a0a0a0a0a0a, AX
	MOVQ AX, X8
	VPBROADCASTQ X8, Y8
	MOVQ $0x0d0d0d0d0d0d0d0d, AX
	MOVQ AX, X9
	VPBROADCASTQ X9, Y9
	VPXOR Y0, Y0, Y0
	VPCMPEQB Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	XORQ DX, DX

round:
	VMOVDQU (SI), Y3
	VMOVDQU 32(SI), Y4
	VPOR Y3, Y0, Y0
	VPMINUB Y3, Y1, Y1
	VPCMPEQB Y3, Y9, Y5
	VPCMPEQB Y3, Y8, Y6
	VPOR Y4, Y0, Y0
	VPMINUB Y4, Y1, Y1
	VPOR Y5, Y2, Y2
	VPCMPEQB Y4, Y9, Y5
	VPCMPEQB Y4, Y8, Y7
	VPOR Y5, Y2, Y2
	VPMOVMSKB Y6, AX
	VPMOVMSKB Y7, BX
	SHLQ $32, BX
	ORQ BX, AX
	POPCNTQ AX, AX
	ADDQ AX, DX
	ADDQ $64, SI
	DECQ CX
	JNE round

	MOVQ DX, lf+16(FP)
	VPMOVMSKB Y0, AX
	MOVL AX, beyond+24(FP)
	VPXOR Y3, Y3, Y3
	VPCMPEQB Y1, Y3, Y1
	VPMOVMSKB Y1, AX
	MOVL AX, zero+28(FP)
	VPMOVMSKB Y2, AX
	MOVL AX, returns+32(FP)
	VZEROUPPER
	RET
