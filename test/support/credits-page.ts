import { toMicros } from '../../src/domain/money.ts'

/** The page of credits as people read it. Amounts are in microcredits. */
export interface ReadCredits {
  /** Balance, bought, free and held; undefined where the page shows a dash. */
  figures: (number | undefined)[]
  spending: { name: string; micros: number }[]
  sum: number | undefined
  /** The first column is a day. */
  days: { day: string; added: number; spent: number; balance: number }[]
  lines: { time: string; what: string; key: string; label: string; change: number; balance: number }[]
  older: string | undefined
  newer: string | undefined
  downloads: Record<string, string>
}

export const readCredits = (html: string): ReadCredits => {
  const link = (pattern: RegExp) => plainOf(pattern.exec(html)?.[1] ?? '') || undefined
  const spending = rowsOf(tableOf(html, 'class="spending"')).map(([name = '', , amount = '']) => ({
    name,
    micros: microsOf(amount),
  }))
  const formats = [...html.matchAll(/href="([^"]*statement\.(\w+)\?[^"]*)"/g)]
  return {
    figures: [...html.matchAll(/<span class="muted">\w+<\/span><strong>(.*?)<\/strong>/g)].map(([, text = '']) =>
      text === '–' ? undefined : microsOf(text.replaceAll(/<[^>]*>/g, '')),
    ),
    spending: spending.slice(0, -1),
    sum: spending.at(-1)?.micros,
    days: rowsOf(tableOf(html, 'id="numbers"')).map(([day = '', added = '', spent = '', balance = '']) => ({
      ...{ day, added: microsOf(added), spent: microsOf(spent), balance: microsOf(balance) },
    })),
    lines: rowsOf(tableOf(html, 'class="statement')).map(([time = '', what = '', key = '', label = '', ...amounts]) => {
      const [change = 0, balance = 0] = amounts.map(microsOf)
      return { time, what, key, label, change, balance }
    }),
    older: link(/href="([^"]*)"[^>]*>Older lines/),
    newer: link(/href="([^"]*)"[^>]*>Newer lines/),
    downloads: Object.fromEntries(formats.map(([, href = '', format = '']) => [format, plainOf(href)])),
  }
}

/** An amount on a page: thousands are separated, and the minus sign is a true one. */
const microsOf = (text: string): number => {
  if (!/^[+−]?\d{1,3}(,\d{3})*(\.\d+)?$/.test(text)) throw new Error(`${text} is no amount of a page`)
  return toMicros(Number(text.replaceAll(',', '').replace('−', '-').replace('+', '')))
}

const tableOf = (html: string, mark: string): string =>
  html
    .split('<table')
    .find(part => part.slice(0, part.indexOf('>')).includes(mark))
    ?.split('</table>')[0] ?? ''

/** The texts of the cells of a table, without its heading. */
const rowsOf = (table: string): string[][] =>
  [...table.replace(/<thead>.*?<\/thead>/s, '').matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>|<td[^>]*\/>/gs)].map(([, cell = '']) =>
      plainOf(
        cell.replace(/<(span|bdi) class="(only-small|detail)[^>]*>.*?<\/\1>/gs, '').replaceAll(/<[^>]*>/g, ''),
      ).trim(),
    ),
  )

const plainOf = (html: string): string =>
  html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
