import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'

/** What a reader opens first is short; the rest has its page in docs/. */
const MAX_README_LINES = 200

const pages = [
  ...(await readdir('.')).filter(name => name.endsWith('.md')),
  ...(await readdir('docs', { recursive: true })).filter(name => name.endsWith('.md')).map(name => join('docs', name)),
  ...['bench/README.md', 'deploy/README.md', 'test/simulation/world/README.md'],
]

const withoutCode = (text: string): string => text.replace(/^ *```.*?^ *```/gms, '')

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = async (page: string): Promise<string[]> => {
  const headings = [...withoutCode(await readFile(page, 'utf8')).matchAll(/^#+ (.*)$/gm)]
  return headings.map(([, heading = '']) =>
    heading
      .replace(/\[(.*?)\]\(.*?\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

const anchors = new Map(await Promise.all(pages.map(async page => [page, await anchorsOf(page)] as const)))

t.test('every link of the documentation leads to a file and a heading that exist', async t => {
  for (const page of pages) {
    const links = withoutCode(await readFile(page, 'utf8')).matchAll(/\]\(([^()\s]+)\)/g)
    for (const [, link = ''] of links) {
      if (/^[a-z]+:/.test(link)) continue
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : normalize(join(dirname(page), path))
      t.ok(existsSync(target), `${page}: ${link}`)
      if (anchor !== undefined) t.ok(anchors.get(target)?.includes(anchor), `${page}: ${link}`)
    }
  }
})

t.test('the index names every page', async t => {
  const index = await readFile('docs/README.md', 'utf8')
  const own = pages.filter(page => /^docs\/[^/]+\.md$/.test(page) && page !== 'docs/README.md')
  for (const page of own) t.match(index, `(${page.slice('docs/'.length)})`, page)
})

t.test('README is short, and its map names every folder of the source', async t => {
  const readme = await readFile('README.md', 'utf8')
  const lines = readme.trimEnd().split('\n')
  t.ok(lines.length <= MAX_README_LINES, `${lines.length} lines`)
  const entries = await readdir('src', { withFileTypes: true })
  for (const { name } of entries.filter(entry => entry.isDirectory())) t.match(readme, `\`src/${name}\``, name)
})
