import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type Router from '@koa/router'
import { brandStyle } from '../../../console/brand.ts'
import type { Brand } from '../../../domain/brand.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { StaticBody } from '../../answers/static-body.ts'
import type { RequestState } from '../../context.ts'

const { resolve } = createRequire(import.meta.url)

const SCRIPT = 'text/javascript'
const FONT = 'font/woff2'

/** The parts of the style sheet, in their order. */
const STYLES = ['base', 'front', 'playground', 'runs', 'credits', 'settings', 'operator', 'docs']

/** The program with which customers check proofs, with what it needs of Node.js from a file of ours. */
const forBrowsers = (program: string) => program.replaceAll(/ from 'node:[a-z]+'/g, " from './node-parts.js'")

interface PageFile {
  type: string
  /** The installed files that it consists of. */
  paths: string[]
  edit?(text: string): string
}

/** The files of pages by name. */
const FILES: Record<string, PageFile> = {
  'style.css': { type: 'text/css', paths: STYLES.map(name => `#console/style/${name}.css`) },
  'console.js': { type: SCRIPT, paths: ['#console/console.js'] },
  'sound.js': { type: SCRIPT, paths: ['#console/sound.js'] },
  'runs.js': { type: SCRIPT, paths: ['#console/runs.js'] },
  'playground.js': { type: SCRIPT, paths: ['#console/playground.js'] },
  'htmx.js': { type: SCRIPT, paths: ['htmx.org/dist/htmx.min.js'] },
  'credits.js': { type: SCRIPT, paths: ['#console/credits.js'] },
  'check-ledger.js': { type: SCRIPT, paths: ['#console/check-ledger.js'] },
  'node-parts.js': { type: SCRIPT, paths: ['#console/node-parts.js'] },
  'verify.js': { type: SCRIPT, paths: ['#verify'], edit: forBrowsers },
  'verify.mjs': { type: SCRIPT, paths: ['#verify'] },
  'docs.js': { type: SCRIPT, paths: ['#console/docs.js'] },
  'mark.svg': { type: 'image/svg+xml', paths: ['#console/mark.svg'] },
  'inter-400.woff2': { type: FONT, paths: ['@fontsource/inter/files/inter-latin-400-normal.woff2'] },
  'inter-500.woff2': { type: FONT, paths: ['@fontsource/inter/files/inter-latin-500-normal.woff2'] },
  'inter-600.woff2': { type: FONT, paths: ['@fontsource/inter/files/inter-latin-600-normal.woff2'] },
  'mono.woff2': {
    type: FONT,
    paths: ['@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2'],
  },
}

const ASSETS = '/console/assets'

/** A year. The address of a file changes with its content. */
const FOREVER = 'public, max-age=31536000, immutable'

/** The style sheet, scripts, fonts and logo of pages. */
export class PageAssets {
  readonly #assets: Map<string, { version: string; body: StaticBody }>

  constructor(brand: Brand) {
    const files = Object.entries(FILES).map(([name, { type, paths, edit }]) => {
      const whole = Buffer.concat(paths.map(path => readFileSync(resolve(path))))
      const bytes = edit ? Buffer.from(edit(whole.toString())) : whole
      return [
        name,
        type,
        name === 'style.css' ? Buffer.concat([bytes, Buffer.from(brandStyle(brand))]) : bytes,
      ] as const
    })
    const logo = brand.logo ? [['logo', brand.logo.type, brand.logo.bytes] as const] : []
    this.#assets = new Map(
      [...files, ...logo].map(([name, type, bytes]) => {
        const version = createHash('sha256').update(bytes).digest('base64url').slice(0, 10)
        return [name, { version, body: new StaticBody(type, bytes) }]
      }),
    )
  }

  /** The address of a file. Throws for unknown names. */
  readonly urlOf = (name: string): string => {
    const asset = this.#assets.get(name)
    if (!asset) throw new Error(`pages have no file ${name}`)
    return `${ASSETS}/${name}?${asset.version}`
  }

  serve(router: Router<RequestState>) {
    router.get(`${ASSETS}/:file`, ctx => {
      const asset = this.#assets.get(ctx.params['file'] ?? '')
      if (!asset) throw new ApiError('not_found', 'There is no such file.')
      ctx.set('Cache-Control', ctx.querystring === asset.version ? FOREVER : 'no-cache')
      return asset.body.answer(ctx)
    })
  }
}
