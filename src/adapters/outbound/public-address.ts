import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Whether a host in a client's URL may be contacted: a public IP address, or a name that public DNS can hold. Such a
 * name can resolve to any address, so check the result with `isPublicAddress`.
 */
export const isPublicHost = (host: string): boolean => (isIP(host) ? isPublicAddress(host) : isPublicName(host))

/**
 * Whether an IP address is public. IPv6 forms that embed an IPv4 address (mapped, NAT64, 6to4, Teredo) are refused: the
 * network decides where they lead, and their hosts have an IPv4 address too.
 */
export const isPublicAddress = (address: string): boolean => {
  // isIP rejects spellings that only some parsers accept. A zone (%) names an interface of this machine.
  if (!isIP(address) || address.includes('%')) return false
  const parsed = ipaddr.parse(address)
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST))
}

/** All public IPv6 addresses: https://www.iana.org/assignments/ipv6-address-space */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/**
 * Single-label and reserved internal names are not even resolved: whether they exist would reveal the internal network.
 */
const isPublicName = (name: string): boolean => {
  const lower = name.toLowerCase().replace(/\.+$/, '')
  return lower.includes('.') && !INTERNAL.test(lower)
}

/** RFC 6761, RFC 6762, RFC 8375, and the name that ICANN reserves for private networks. */
const INTERNAL = /(^|\.)(localhost|local|home\.arpa|internal)$/
