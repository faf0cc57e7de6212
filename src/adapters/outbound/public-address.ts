import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Whether a host may be reached for somebody else: a public IP address, or a name that the public DNS can hold. Such a name
 * may still lead anywhere, so what it resolves to has to pass `isPublicAddress`.
 */
export const isPublicHost = (host: string): boolean => (isIP(host) ? isPublicAddress(host) : isPublicName(host))

/**
 * Whether an IP address is one that anybody on the internet can have. Forms of IPv6 that hold an IPv4 address (mapped, NAT64,
 * 6to4, Teredo) are not: where they lead is for the network to say, and whoever has such an address has the IPv4 one too.
 */
export const isPublicAddress = (address: string): boolean => {
  // A zone names an interface of this machine. The first check keeps out the spellings that only some parsers take.
  if (!isIP(address) || address.includes('%')) return false
  const parsed = ipaddr.parse(address)
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST))
}

/** All that is given out of IPv6 for public use: https://www.iana.org/assignments/ipv6-address-space */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/**
 * Names with one part and those set apart for inside use are not even looked up. Whether they exist would tell of the network
 * that the service stands in.
 */
const isPublicName = (name: string): boolean => {
  const lower = name.toLowerCase().replace(/\.+$/, '')
  return lower.includes('.') && !INSIDE.test(lower)
}

/** RFC 6761, RFC 6762, RFC 8375, and the name that ICANN keeps free for private networks. */
const INSIDE = /(^|\.)(localhost|local|home\.arpa|internal)$/
