import { readFileSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'

const file = 'schemas/api/examples.json'

/**
 * Compares what the service sent with the example of this name in the OpenAPI document, such as `runs.image`. IDs, times
 * and other parts that differ between requests do not count. `npm run docs:examples` writes the examples that differ.
 */
export const recorded = (t: Test, name: string, sent: unknown) => {
  const all = JSON.parse(readFileSync(file, 'utf8'))
  const [group = '', member] = name.split(/\.(.*)/)
  const place = member === undefined ? all : all[group]
  const key = member ?? group
  const shown = published(sent)
  if (process.env['RECORD_EXAMPLES'] === 'true' && !isDeepStrictEqual(masked(shown), masked(place[key]))) {
    place[key] = shown
    writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`)
  }
  t.same(masked(shown), masked(place[key]), name)
}

/** The addresses of a test as they are in production. */
const published = (sent: unknown): unknown =>
  JSON.parse(
    JSON.stringify(sent)
      .replaceAll(/http:\/\/(localhost|127\.0\.0\.1):\d+\/cdn\//g, 'https://api.example.com/cdn/')
      .replaceAll(/http:\/\/(localhost|127\.0\.0\.1):\d+[^"]*/g, 'https://example.com/hooks/tollgate'),
  )

/** Masks the parts that differ between requests. */
const masked = (value: unknown): unknown =>
  JSON.parse(
    (JSON.stringify(value) ?? 'null')
      .replaceAll(/\b(acct|key|run|upl|msg)_[0-9a-z]{26}/g, '$1_ID')
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/\d{4}-\d\d-\d\d/g, 'DAY')
      .replaceAll(/\b[0-9a-f]{32}\b/g, 'NAME')
      .replaceAll(/("sha256":)"[0-9a-f]{64}"/g, '$1"DIGEST"')
      .replaceAll(/(expires=)\d+(.*signature=)[0-9a-f]{64}/g, '$1TIME$2SIGNATURE')
      .replaceAll(/whsec_[A-Za-z0-9+/]{43}=/g, 'whsec_SECRET')
      .replaceAll(/(tg_sk_\w+)_[0-9a-f]{32}/g, '$1_KEY')
      .replaceAll(/("last_four":)"\w{4}"/g, '$1"LAST"')
      .replaceAll(/("(seed|latency_ms|free_bytes|created|created_at)":)\d+/g, '$10')
      .replaceAll(/id:\d+/g, 'id:REVISION'),
  )
