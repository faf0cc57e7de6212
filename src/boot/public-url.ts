import { isIPv6 } from 'node:net'
import type { Config } from './config.ts'

/** The URL of the service, without a trailing slash: the configured one, or that of the address that it listens on. */
export const publicUrlOf = ({ publicUrl, host }: Pick<Config, 'publicUrl' | 'host'>, port: number): string =>
  publicUrl ?? `http://${hostName(host)}:${port}`

/** The host name in the URL of a listening address. */
const hostName = (host: string): string => {
  if (['127.0.0.1', '0.0.0.0', '::', '::1'].includes(host)) return 'localhost'
  return isIPv6(host) ? `[${host}]` : host
}
