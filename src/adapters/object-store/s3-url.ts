import { percentDecode } from '../percent-decode.ts'
import type { S3Address } from './s3.ts'

/** S3 servers that have only one region answer to this name. */
const DEFAULT_REGION = 'us-east-1'

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
const BUCKET = /^[a-z0-9](?:[a-z0-9-]|\.(?!\.)){1,61}[a-z0-9]$/

/** Reads `s3://KEY:SECRET@HOST:PORT/BUCKET?region=…&tls=off`; a text says what is wrong with it, and nothing of its secret. */
export const parseS3Url = (text: string): S3Address | string => {
  if (!URL.canParse(text)) return 'must be an address that can be read'
  // The URL standard leaves out default ports only for schemes that it knows, and this is none of them.
  const { hostname: host, port, username, password, pathname, searchParams } = new URL(text)
  const [accessKey, secretKey] = [percentDecode(username), percentDecode(password)]
  if (!host || !accessKey || !secretKey) return 'must have a key, a secret and a host, percent-encoded where needed'
  const bucket = pathname.slice(1)
  if (!BUCKET.test(bucket)) return 'must name a bucket by 3 to 63 lower case letters, digits, dots and hyphens'
  const unknown = [...searchParams.keys()].find(name => name !== 'region' && name !== 'tls')
  if (unknown !== undefined) return `has the unknown parameter ${JSON.stringify(unknown)}`
  const tls = searchParams.get('tls') ?? 'on'
  if (tls !== 'on' && tls !== 'off') return 'must say tls=on or tls=off'
  const region = searchParams.get('region') ?? DEFAULT_REGION
  return { host, port: port ? Number(port) : undefined, tls: tls === 'on', region, bucket, accessKey, secretKey }
}
