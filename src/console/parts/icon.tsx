import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** The icons of Lucide that pages use: https://lucide.dev/icons. */
const NAMES = [
  ...[
    'activity',
    'arrow-left',
    'arrow-right-to-line',
    'audio-lines',
    'book-open',
    'check',
    'chevron-down',
    'circle-alert',
    'coins',
    'copy',
  ],
  ...['dices', 'download', 'ellipsis', 'external-link', 'film', 'image', 'key-round', 'layout-grid', 'list', 'minus'],
  ...[
    'package',
    'pause',
    'play',
    'plus',
    'rotate-cw',
    'search',
    'settings',
    'shield-check',
    'sliders-horizontal',
    'text',
    'upload',
  ],
  ...['log-out', 'users', 'webhook', 'x'],
] as const
export type IconName = (typeof NAMES)[number]

const { resolve } = createRequire(import.meta.url)

const shapeOf = (name: IconName): string =>
  /<svg[^>]*>([\s\S]*)<\/svg>/.exec(readFileSync(resolve(`lucide-static/icons/${name}.svg`), 'utf8'))?.[1]?.trim() ?? ''

const shapes = new Map(NAMES.map(name => [name, { __html: shapeOf(name) }]))

/** An icon beside a word. Alone, its button or link needs a label. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" dangerouslySetInnerHTML={shapes.get(name)} />
)
