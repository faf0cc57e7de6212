import { buffer } from 'node:stream/consumers'
import { parentPort, workerData } from 'node:worker_threads'
import { sheetToPdf } from '../../audit/statement/pdf/pdf.ts'
import type { PdfOrder } from './pdf-thread.ts'
import { spokenSheet } from './sheet.ts'

// The program of the thread that lays out a statement.

const { lines, brand, ...facts } = workerData as PdfOrder
const { account, from, to } = facts
const sheet = spokenSheet(lines, facts)
const pieces = sheetToPdf(sheet, { account, subject: `From ${from} to ${to}, UTC`, at: to, brand })
parentPort?.postMessage(new Uint8Array(await buffer(pieces)))
