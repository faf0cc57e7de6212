import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6, SocketAddress } from 'node:net'
import { parse } from 'forwarded-parse'

/** Whether an address is that of a trusted proxy. */
export type TrustedAddress = (address: string) => boolean

/** The header in which proxies name the addresses of their clients. */
export type AddressHeader = 'x-forwarded-for' | 'forwarded'

/** The address of the client that sent a request, or `UNKNOWN_CLIENT`. */
export type ClientAddress = (request: IncomingMessage) => string

/** A client that no proxy names. It is in no network, and all such clients share the limits of one network. */
export const UNKNOWN_CLIENT = 'unknown'

/**
 * Finds the client: the last address in the header that is no trusted proxy's. It reads only one header, because a
 * proxy that sets one passes on the other as its client sent it.
 */
export const clientAddresses =
  (isTrusted: TrustedAddress, header: AddressHeader = 'x-forwarded-for'): ClientAddress =>
  ({ socket, headers }) => {
    const connection = unmapped(socket.remoteAddress ?? UNKNOWN_CLIENT)
    if (!isTrusted(connection)) return connection
    const isForwarded = HEADERS.some(name => headers[name] !== undefined)
    let client = isForwarded ? UNKNOWN_CLIENT : connection
    for (const hop of hopsOf(String(headers[header] ?? ''))) {
      client = (header === 'forwarded' ? readElement(hop) : readNode(hop)) ?? UNKNOWN_CLIENT
      if (!isTrusted(client)) break
    }
    return client
  }

const HEADERS: readonly AddressHeader[] = ['x-forwarded-for', 'forwarded']

/**
 * The hops of a header, the last first. A comma divides hops even between quotes, so that an open quote of a client
 * cannot hide the hop that a proxy appends.
 */
const hopsOf = (header: string): string[] =>
  header
    .split(',')
    .map(hop => hop.trim())
    .filter(Boolean)
    .reverse()

/** The address in one element of `Forwarded` (RFC 7239), such as `for="[2001:db8::7]:443";proto=https`. */
const readElement = (element: string): string | undefined => {
  try {
    return readNode(parse(element)[0]?.['for'] ?? '')
  } catch {
    return undefined
  }
}

/** A node (RFC 7239, section 6): an address, with or without brackets and a port. All spellings give one text. */
const readNode = (text: string): string | undefined => {
  const node = /^"(.*)"$/.exec(text)?.[1] ?? text
  const [, v6 = node, v4 = node] = NODE.exec(node) ?? []
  if (isIPv4(v4)) return v4
  return isIPv6(v6) ? unmapped(new SocketAddress({ address: v6, family: 'ipv6' }).address) : undefined
}

const NODE = /^(?:\[([^\]]*)\]|([\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/

/** An IPv4 address that a socket for both versions shows as an IPv6 address, without its prefix (RFC 4291, 2.5.5.2). */
export const unmapped = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/, '')
