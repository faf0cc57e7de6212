import { Client, type ClientOptions } from 'minio'

export type { Client }

/** A bucket on an S3 server, and how to reach it. */
export interface S3Address {
  host: string
  port: number | undefined
  tls: boolean
  region: string
  bucket: string
  accessKey: string
  secretKey: string
}

/** A client of the server. */
export const createS3Client = (
  { host, port, tls, region, accessKey, secretKey }: Omit<S3Address, 'bucket'>,
  options: Partial<ClientOptions> = {},
): Client =>
  new Client({
    // URLs put IPv6 addresses in brackets.
    endPoint: host.replace(/^\[|\]$/g, ''),
    ...(port !== undefined && { port }),
    useSSL: tls,
    // Without it, presigning calls the server.
    region,
    accessKey,
    secretKey,
    ...options,
  })
