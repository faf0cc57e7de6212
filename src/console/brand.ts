import type { Brand } from '../domain/brand.ts'

/** The least contrast of text by WCAG 2.2, criterion 1.4.3: https://www.w3.org/TR/WCAG22/#contrast-minimum. */
const MIN_CONTRAST = 4.5

const PAPER = '#faf9f7'
const DARK_PAPER = '#15191c'
const INK = '#17191b'
const WHITE = '#ffffff'

/** What is wrong with a brand colour; undefined if text in it can be read. */
export const colorFault = (color: string): string | undefined => {
  const contrast = contrastOf(color, PAPER)
  return contrast < MIN_CONTRAST
    ? `has a contrast of ${contrast.toFixed(1)} with the pages, but needs ${MIN_CONTRAST}: use a darker colour`
    : undefined
}

/** The style that puts the brand's colour in the place of the accent. Dark pages get a lighter tint of it. */
export const brandStyle = ({ color }: Pick<Brand, 'color'>): string => {
  if (color === undefined) return ''
  const tint = [0, 0.2, 0.4, 0.6, 0.8].map(part => mixed(color, WHITE, part)).find(isReadableInTheDark) ?? WHITE
  const tokens = (accent: string, paper: string, onAccent: string) =>
    [
      `--accent:${accent}`,
      `--accent-hover:${mixed(accent, INK, 0.15)}`,
      `--accent-soft:${mixed(accent, paper, 0.88)}`,
      `--on-accent:${onAccent}`,
    ].join(';')
  return [
    `:root{${tokens(color, PAPER, WHITE)}}`,
    `@media (prefers-color-scheme:dark){:root{${tokens(tint, DARK_PAPER, INK)}}}\n`,
  ].join('\n')
}

/** As text on dark pages, and as a button with dark text. */
const isReadableInTheDark = (color: string) =>
  [DARK_PAPER, INK].every(other => contrastOf(color, other) >= MIN_CONTRAST)

const partsOf = (color: string): number[] => [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16))

/** A colour with a part of another. */
const mixed = (color: string, other: string, part: number): string => {
  const others = partsOf(other)
  const parts = partsOf(color).map((value, at) => Math.round(value * (1 - part) + (others[at] ?? 0) * part))
  return `#${parts.map(value => value.toString(16).padStart(2, '0')).join('')}`
}

/** The relative luminance: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance. */
const luminanceOf = (color: string): number => {
  const [red = 0, green = 0, blue = 0] = partsOf(color)
    .map(value => value / 255)
    .map(value => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** From 1 to 21. */
const contrastOf = (one: string, other: string): number => {
  const [light = 0, dark = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}
