import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The addresses that clients' URLs may lead to. */
export class PublicAddresses {
  readonly #denied: [ipaddr.IPv4 | ipaddr.IPv6, number][]

  /** `denied` names further addresses and CIDR ranges. Throws an Error if one is malformed. */
  constructor(denied: readonly string[] = []) {
    this.#denied = [AZURE_HOST, ...denied].map(toRange)
  }

  /**
   * Whether a host in a client's URL may be contacted: a public IP address, or a name that public DNS can hold. Such a
   * name can resolve to any address, so check the result with `hasAddress`.
   */
  hasHost(host: string): boolean {
    return isIP(host) ? this.hasAddress(host) : isPublicName(host)
  }

  /**
   * Whether an IP address is public. IPv6 forms that embed an IPv4 address (mapped, NAT64, 6to4, Teredo, ISATAP) are
   * refused: the network decides where they lead, and their hosts have an IPv4 address too.
   */
  hasAddress(address: string): boolean {
    // isIP rejects spellings that only some parsers accept. A zone (%) names an interface of this machine.
    if (!isIP(address) || address.includes('%')) return false
    const parsed = ipaddr.parse(address)
    if (this.#denied.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits))) return false
    if (parsed.range() !== 'unicast') return false
    return parsed instanceof ipaddr.IPv4 || (parsed.match(GLOBAL_UNICAST) && !embedsPrivate(parsed))
  }
}

/** A service for virtual machines on the host, at the same address everywhere in Azure. */
const AZURE_HOST = '168.63.129.16'

const toRange = (text: string) =>
  text.includes('/')
    ? ipaddr.parseCIDR(text)
    : ipaddr.parseCIDR(`${text}/${ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128}`)

/** All public IPv6 addresses: https://www.iana.org/assignments/ipv6-address-space */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/**
 * Whether a global address ends in an ISATAP identifier (RFC 5214, section 6.1), or in a private IPv4 address behind
 * zeros, as in a network's own NAT64 prefix of 96 bits (RFC 6052, section 2.2).
 */
const embedsPrivate = (address: ipaddr.IPv6): boolean => {
  const [flags = 0, mark, high = 0, low = 0] = address.parts.slice(4)
  if (mark === 0x5efe && (flags & ~0x200) === 0) return true
  const embedded = new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255])
  return flags === 0 && mark === 0 && PRIVATE.has(embedded.range())
}

const PRIVATE = new Set(['private', 'loopback', 'linkLocal', 'carrierGradeNat'])

/**
 * Single-label and reserved internal names are not even resolved: whether they exist would reveal the internal network.
 */
const isPublicName = (name: string): boolean => {
  const lower = name.toLowerCase().replace(/\.+$/, '')
  return lower.includes('.') && !INTERNAL.test(lower)
}

/** RFC 6761, RFC 6762, RFC 8375, and the name that ICANN reserves for private networks. */
const INTERNAL = /(^|\.)(localhost|local|home\.arpa|internal)$/
