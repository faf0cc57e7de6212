import { inflateSync } from 'node:zlib'

/** One text as it is drawn on a page, in points from the lower left. */
export interface Drawn {
  text: string
  x: number
  y: number
}

/** The texts of each page of a PDF that pdfkit wrote with embedded fonts, which need not be compressed. */
export const pdfPages = (pdf: Uint8Array): Drawn[][] => {
  const fonts = fontsOf(objectsOf(Buffer.from(pdf).toString('latin1')))
  return pageStreams(pdf).map(content => drawnIn(content, fonts))
}

/** The drawing instructions of each page. */
export const pageStreams = (pdf: Uint8Array): string[] => {
  const objects = objectsOf(Buffer.from(pdf).toString('latin1'))
  return [...objects.values()].flatMap(text => {
    const [, number] = (/\/Type \/Page\n/.test(text) && /\/Contents (\d+) 0 R/.exec(text)) || []
    return number ? [streamOf(objects.get(number) ?? '')] : []
  })
}

/** All texts of a page, each in a line. */
export const pageText = (drawn: Drawn[]): string => drawn.map(({ text }) => text).join('\n')

const objectsOf = (file: string): Map<string, string> =>
  new Map(
    [...file.matchAll(/(?:^|\n)(\d+) 0 obj\n([\s\S]*?)\nendobj/g)].map(([, number = '', text = '']) => [number, text]),
  )

const streamOf = (object: string): string => {
  const [head = '', body = ''] = object.split(/\nstream\n/)
  const bytes = Buffer.from(body.slice(0, body.lastIndexOf('\nendstream')), 'latin1')
  return head.includes('/FlateDecode') ? inflateSync(bytes).toString('latin1') : bytes.toString('latin1')
}

/** For each font, by its name on the pages, the characters of its glyphs. */
const fontsOf = (objects: Map<string, string>): Map<string, Map<string, string>> => {
  const fonts = new Map<string, Map<string, string>>()
  for (const text of objects.values())
    for (const [, name = '', number = ''] of text.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const [, map = ''] = /\/ToUnicode (\d+) 0 R/.exec(objects.get(number) ?? '') ?? []
      if (map) fonts.set(name, charactersOf(streamOf(objects.get(map) ?? '')))
    }
  return fonts
}

const charactersOf = (map: string): Map<string, string> => {
  const characters = new Map<string, string>()
  for (const [, first = '', list = ''] of map.matchAll(/<([0-9a-f]{4})> <[0-9a-f]{4}> \[([^\]]*)\]/g))
    for (const [index, [, units = '']] of [...list.matchAll(/<([0-9a-f ]*)>/g)].entries()) {
      const glyph = (Number.parseInt(first, 16) + index).toString(16).padStart(4, '0')
      characters.set(glyph, Buffer.from(units.replaceAll(' ', ''), 'hex').swap16().toString('utf16le'))
    }
  return characters
}

const drawnIn = (content: string, fonts: Map<string, Map<string, string>>): Drawn[] => {
  const drawn: Drawn[] = []
  for (const [, block = ''] of content.matchAll(/\nBT\n([\s\S]*?)\nET\n/g)) {
    const [, x = '', y = ''] = /1 0 0 1 (\S+) (\S+) Tm/.exec(block) ?? []
    const characters = fonts.get(/\/(F\d+) \S+ Tf/.exec(block)?.[1] ?? '')
    const glyphs = [...block.matchAll(/<([0-9a-f]+)>/g)].flatMap(([, hex = '']) => hex.match(/.{4}/g) ?? [])
    drawn.push({ text: glyphs.map(glyph => characters?.get(glyph) ?? '?').join(''), x: Number(x), y: Number(y) })
  }
  return drawn
}
