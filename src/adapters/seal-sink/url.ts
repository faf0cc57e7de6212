import { fileURLToPath } from 'node:url'

/** The destination of seal copies. An S3 sink is on the server of the object store. */
export type SealSinkAddress =
  | { kind: 'file'; path: string }
  | { kind: 's3'; bucket: string; prefix: string }
  | { kind: 'https'; url: string }

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
const BUCKET = /^[a-z0-9](?:[a-z0-9-]|\.(?!\.)){1,61}[a-z0-9]$/

/** Characters that every S3 server and tool leaves unchanged in object names, in non-empty parts. */
const PREFIX = /^([\w.!*'()-]+\/)*$/

/** A receiver on this machine needs no network, so plain HTTP lets no third party read or drop seals. */
const THIS_MACHINE = ['localhost', '127.0.0.1', '[::1]']

/**
 * Parses a path, `file:///…`, `s3://BUCKET/PREFIX` or `https://…`. Returns a string for an invalid address: the error
 * message, which never contains the address, because the address may be a secret.
 */
export const parseSinkUrl = (text: string): SealSinkAddress | string => {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return { kind: 'file', path: text }
  if (!URL.canParse(text)) return 'must hold valid URLs or paths'
  const url = new URL(text)
  if (scheme === 'file') return parseFile(url)
  if (scheme === 's3') return parseS3(url)
  if (scheme !== 'https' && scheme !== 'http') return `must not begin with ${scheme}:`
  if (scheme === 'http' && !THIS_MACHINE.includes(url.hostname)) return 'must use https: for another machine'
  if (url.username || url.password) return 'must have no user name or password; put a secret into the path'
  if (url.hash) return 'must have no fragment'
  return { kind: 'https', url: url.href }
}

const parseFile = (url: URL): SealSinkAddress | string => {
  try {
    return { kind: 'file', path: fileURLToPath(url) }
  } catch {
    return 'must name files on this machine, such as file:///var/lib/seals.jsonl'
  }
}

const parseS3 = ({ hostname: bucket, pathname, port, username, search, hash }: URL): SealSinkAddress | string => {
  if (port || username || search || hash || !BUCKET.test(bucket))
    return 'must name a bucket and a prefix, such as s3://bucket/seals; the server is that of OBJECT_STORE_URL'
  const path = pathname.replace(/^\/|\/$/g, '')
  const prefix = path && `${path}/`
  return PREFIX.test(prefix) ? { kind: 's3', bucket, prefix } : 'must have a prefix of letters, digits, -, _, . and /'
}
