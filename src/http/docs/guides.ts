import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { addressOfFile, type Guide, type Shelf, shelvesOf } from '../../console/docs/library.ts'
import { type Rendered, renderPage } from '../../console/docs/markdown.tsx'
import { DOCS, FIRST_REQUEST } from '../../console/docs/paths.ts'
import { StaticBody } from '../answers/static-body.ts'

const { resolve } = createRequire(import.meta.url)

/** The address of the service in the examples of guides. */
const EXAMPLE_URL = 'http://localhost:8080'

/** The files beside the guides that browsers show as text. */
const TYPES: Record<string, string> = {
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.mjs': 'text/plain',
  '.py': 'text/plain',
  '.ts': 'text/plain',
}

/** The guides of docs/ and the files beside them. */
export interface Guides {
  shelves: readonly Shelf[]
  /** A guide by the address of its page. */
  guideAt(path: string): Promise<Rendered | undefined>
  /** The Markdown of a guide, by the address of its page. */
  sourceAt(path: string): Promise<string | undefined>
  /** The guides before and after one. */
  besides(path: string): { previous: Guide | undefined; next: Guide | undefined }
  /** A file by its address. */
  fileAt(path: string): Promise<StaticBody | undefined>
}

/** Reads the names of the guides. A guide is read when somebody asks for it. */
export const openGuides = async (publicUrl: () => string): Promise<Guides> => {
  const folder = dirname(resolve('#docs/README.md'))
  const names = (await readdir(folder, { recursive: true })).map(name => name.replaceAll('\\', '/'))
  const pages = new Map(names.filter(name => name.endsWith('.md')).map(name => [addressOfFile(name), name]))
  const files = new Map(names.filter(name => typeOf(name) !== undefined).map(name => [`${DOCS}/${name}`, name]))
  const read = (name: string) => readFile(join(folder, name))

  /** The address that a link of a file leads to; undefined outside of docs/. */
  const addressIn = (file: string) => (href: string) => {
    const [path = '', anchor] = href.split('#')
    const end = anchor === undefined ? '' : `#${anchor}`
    if (path === '') return end
    const target = posix.normalize(posix.join(posix.dirname(file), path))
    // The page of the repository that a reader begins with.
    if (target === '../README.md') return FIRST_REQUEST
    const address = target.endsWith('.md') ? addressOfFile(target) : `${DOCS}/${target}`
    return pages.has(address) || files.has(address) ? address + end : undefined
  }

  const shelves = shelvesOf((await read('README.md')).toString(), addressIn('README.md')).map(shelf => ({
    ...shelf,
    guides: shelf.guides.filter(({ path }) => pages.has(path)),
  }))
  const order = shelves.flatMap(({ guides }) => guides)
  const rendered = new Map<string, Promise<Rendered>>()
  const bodies = new Map<string, Promise<StaticBody>>()

  const sourceOf = async (name: string) => (await read(name)).toString().replaceAll(EXAMPLE_URL, publicUrl())
  const render = async (name: string): Promise<Rendered> => renderPage(await sourceOf(name), addressIn(name))

  return {
    shelves,
    guideAt: async path => kept(rendered, path, pages.get(path), render),
    sourceAt: async path => {
      const name = pages.get(path)
      return name === undefined ? undefined : sourceOf(name)
    },
    besides: path => {
      const at = order.findIndex(guide => guide.path === path)
      return { previous: at > 0 ? order[at - 1] : undefined, next: at < 0 ? undefined : order[at + 1] }
    },
    fileAt: async path =>
      kept(bodies, path, files.get(path), async name => new StaticBody(typeOf(name) ?? 'text/plain', await read(name))),
  }
}

const typeOf = (name: string): string | undefined => TYPES[posix.extname(name)]

const kept = <Value>(
  all: Map<string, Promise<Value>>,
  path: string,
  name: string | undefined,
  make: (name: string) => Promise<Value>,
): Promise<Value> | undefined => {
  if (name === undefined) return undefined
  const known = all.get(path)
  if (known) return known
  const value = make(name)
  all.set(path, value)
  value.catch(() => all.delete(path))
  return value
}
