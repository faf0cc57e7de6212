/** One sound of the voice, or a pause between words or sentences. */
export type Syllable =
  | { kind: 'silence'; seconds: number }
  | { kind: 'voiced'; vowel: Vowel; onset: Onset; seconds: number; pitch: number }

export type Vowel = 'a' | 'e' | 'i' | 'o' | 'u'

/** The onset of a syllable: a breath, a stop, or soft. */
type Onset = 'hiss' | 'stop' | 'hum'

/** Splits a text into simplified syllables: as many as in the text, with the same pauses. */
export function syllablesOf(text: string): Syllable[] {
  // Directions such as [whispers] are not spoken, and <#1.5#> is a pause of that many seconds.
  const parts = text.replace(/\[[^\]]*\]/g, ' ').split(/<#(\d{1,2}(?:\.\d{1,2})?)#>/)
  return parts.flatMap((part, index) =>
    index % 2 === 1 ? [{ kind: 'silence', seconds: Number(part) } as const] : sentencesOf(part),
  )
}

function sentencesOf(text: string): Syllable[] {
  return (text.match(/[^.!?。！？]+[.!?。！？]*/gu) ?? []).flatMap(sentence => {
    const parts = sentence.match(/\p{Script=Latin}+|\p{N}|(?!\p{Script=Latin})\p{L}|[,;:、，—–]|[.!?。！？]+/gu) ?? []
    const asks = /[?？]\s*$/u.test(sentence)
    return parts.flatMap((part, index) => {
      if (/^[,;:、，—–]/u.test(part)) return [{ kind: 'silence', seconds: 0.18 } as const]
      if (/^[.!?。！？]/u.test(part)) return [{ kind: 'silence', seconds: 0.32 } as const]
      return spoken(part, melody(index / parts.length, asks))
    })
  })
}

/** The pitch falls towards the end of a sentence and rises in a question. A factor around 1 of the voice's pitch. */
const melody = (share: number, asks: boolean) => (asks ? 0.96 + 0.34 * share ** 3 : 1.1 - 0.24 * share)

function spoken(word: string, pitch: number): Syllable[] {
  const pieces = word
    .normalize('NFD')
    .toLowerCase()
    .match(/[^aeiouy]*[aeiouy]+(?:[^aeiouy]+$)?/g) ?? [word]
  const syllables = pieces.map((piece, index): Syllable => {
    const seconds = 0.09 + Math.min(0.09, piece.length * 0.013) + (index === pieces.length - 1 ? 0.02 : 0)
    // The first syllable of a word is stressed.
    return {
      kind: 'voiced',
      vowel: vowelOf(piece),
      onset: onsetOf(piece),
      seconds,
      pitch: pitch * (index === 0 ? 1.06 : 1),
    }
  })
  return [...syllables, { kind: 'silence', seconds: 0.03 }]
}

function vowelOf(piece: string): Vowel {
  const letter = /[aeiouy]/.exec(piece)?.[0]
  if (letter !== undefined) return letter === 'y' ? 'i' : (letter as Vowel)
  // Each letter of another script, and each digit, maps to a fixed vowel.
  return VOWELS[(piece.codePointAt(0) ?? 0) % VOWELS.length] ?? 'a'
}

function onsetOf(piece: string): Onset {
  if (/^(s|z|f|v|sh|ch|h|x|th)/.test(piece)) return 'hiss'
  return /^[ptkbdgcq]/.test(piece) ? 'stop' : 'hum'
}

const VOWELS: readonly Vowel[] = ['a', 'e', 'i', 'o', 'u']
