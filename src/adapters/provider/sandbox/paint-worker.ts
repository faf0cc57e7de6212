import { move } from 'piscina'
import { type Picture, paint } from './paint.ts'

/** What a thread of the painter runs. The bytes are handed over rather than copied. */
export default async function paintInWorker(picture: Picture) {
  const bytes = await paint(picture)
  return move(bytes)
}
