import { stringify } from 'csv-stringify/sync'

/**
 * A line of a table by RFC 4180. Many readers also end a line at half of a line end, which csv-stringify does not quote
 * by itself.
 */
export const csvRow = (cells: string[]): string =>
  stringify([cells], { record_delimiter: 'windows', quoted_match: /[\r\n]/ })

/**
 * A text that a spreadsheet would take for a formula gets an apostrophe before it, as spreadsheets write texts. Some
 * take the wide forms of the signs too.
 */
export const csvText = (value: string | undefined): string =>
  value?.replace(/^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/, "'$&") ?? ''
