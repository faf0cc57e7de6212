import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** All addresses that share a number of first bits with an address. */
export type AddressRange = [Address, number]

/** Reads addresses and CIDR ranges. Throws an Error if one is malformed. */
export const readRanges = (texts: readonly string[]): AddressRange[] =>
  texts.map(text =>
    text.includes('/')
      ? ipaddr.parseCIDR(text)
      : ipaddr.parseCIDR(`${text}/${ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128}`),
  )

/** A service for virtual machines on the host, at the same address everywhere in Azure. */
const AZURE_HOST = '168.63.129.16'

interface AllowedAddressesOptions {
  /** Further addresses that are never allowed. */
  denied?: readonly AddressRange[]
  /** Allows private addresses and names as well. */
  allowPrivate?: boolean
}

/** The hosts and addresses to which clients' URLs may lead. */
export class AllowedAddresses {
  readonly #denied: readonly AddressRange[]
  readonly #allowPrivate: boolean

  constructor({ denied = [], allowPrivate = false }: AllowedAddressesOptions = {}) {
    this.#denied = [...readRanges([AZURE_HOST]), ...denied]
    this.#allowPrivate = allowPrivate
  }

  /**
   * Whether a host in a client's URL may be contacted: an allowed IP address, or a name that public DNS can hold. Such
   * a name can resolve to any address, so check the result with `hasAddress`.
   */
  hasHost(host: string): boolean {
    return isIP(host) ? this.hasAddress(host) : this.#allowPrivate || isPublicName(host)
  }

  /** Whether the host in a URL is itself forbidden, so that no request to it can succeed. */
  refusesUrl(url: string): boolean {
    return URL.canParse(url) && !this.hasHost(hostOf(new URL(url)))
  }

  /**
   * Whether an IP address may be contacted. IPv6 forms that embed an IPv4 address (mapped, NAT64, 6to4, Teredo, ISATAP)
   * are not public: the network decides where they lead, and their hosts also have an IPv4 address.
   */
  hasAddress(address: string): boolean {
    // Some parsers accept spellings that isIP rejects.
    if (!isIP(address)) return false
    const [text = '', zone] = address.split('%')
    const parsed = ipaddr.parse(text)
    if (this.#denies(parsed)) return false
    // A zone names an interface of this machine.
    return this.#allowPrivate || (zone === undefined && isPublic(parsed))
  }

  #denies(address: Address): boolean {
    const embedded = embeddedIn(address)
    return this.#denied.some(range => isWithin(address, range) || (embedded && isWithin(embedded, range)))
  }
}

const isWithin = (address: Address, [range, bits]: AddressRange) =>
  range.kind() === address.kind() && address.match(range, bits)

const isPublic = (address: Address): boolean => {
  if (address.range() !== 'unicast') return false
  if (address instanceof ipaddr.IPv4) return true
  return address.match(GLOBAL_UNICAST) && !isIsatap(address) && !PRIVATE.has(embeddedIn(address)?.range() ?? '')
}

/** All public IPv6 addresses: https://www.iana.org/assignments/ipv6-address-space */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/** Whether an address ends in an ISATAP identifier (RFC 5214, section 6.1). */
const isIsatap = ({ parts: [, , , , flags = 0, mark] }: ipaddr.IPv6) => mark === 0x5efe && (flags & ~0x200) === 0

/**
 * The IPv4 address to which a network may forward packets for an IPv6 address. A network may have any NAT64 prefix of
 * 96 bits, and the IPv4 address follows zeros (RFC 6052, section 2.2).
 */
const embeddedIn = (address: Address): ipaddr.IPv4 | undefined => {
  if (address instanceof ipaddr.IPv4) return undefined
  const [, second = 0, third = 0, , fifth, sixth, high = 0, low = 0] = address.parts
  switch (address.range()) {
    case '6to4':
      return toIPv4(second, third)
    case 'teredo':
      return toIPv4(high ^ 0xffff, low ^ 0xffff)
    case 'ipv4Mapped':
    case 'rfc6145':
      return toIPv4(high, low)
  }
  return isIsatap(address) || (fifth === 0 && sixth === 0) ? toIPv4(high, low) : undefined
}

const toIPv4 = (high: number, low: number) => new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255])

const PRIVATE = new Set<string>(['private', 'loopback', 'linkLocal', 'carrierGradeNat'])

/**
 * Single-label and reserved internal names are not even resolved, because their existence would reveal the internal
 * network.
 */
const isPublicName = (name: string): boolean => {
  const lower = name.toLowerCase().replace(/\.+$/, '')
  return lower.includes('.') && !INTERNAL.test(lower)
}

/** RFC 6761, RFC 6762, RFC 8375, and the name that ICANN reserves for private networks. */
const INTERNAL = /(^|\.)(localhost|local|home\.arpa|internal)$/

/** An IPv6 address without its brackets. */
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, '$1')
