import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** The CIDR range that a text means, an address alone being a range of one; undefined if it is neither. */
export const toCidr = (text: string): string | undefined => {
  const [address = '', bits, ...rest] = text.split('/')
  // Some parsers accept other spellings than isIP does. A zone has a meaning on one machine only.
  if (!isIP(address) || address.includes('%') || rest.length > 0) return undefined
  const parsed = ipaddr.parse(address)
  const maxBits = parsed.kind() === 'ipv4' ? 32 : 128
  if (bits !== undefined && !(/^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= maxBits)) return undefined
  const length = bits === undefined ? maxBits : Number(bits)
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() && length >= MAPPED_BITS)
    return toCidr(`${parsed.toIPv4Address()}/${length - MAPPED_BITS}`)
  const network = (parsed.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(`${parsed}/${length}`)
  return `${network}/${length}`
}

/** Whether an address is in one of the ranges. */
export const isWithin = (address: string, cidrs: readonly string[]): boolean => {
  const [text = ''] = address.split('%')
  if (!isIP(text)) return false
  const parsed = ipaddr.process(text)
  return rangesOf(cidrs).some(range => range[0].kind() === parsed.kind() && parsed.match(range))
}

/** The bits before an IPv4 address that is written as an IPv6 address. */
const MAPPED_BITS = 96

/** Every request asks, and the list of a key never changes. */
const parsedRanges = new WeakMap<readonly string[], Range[]>()

const rangesOf = (cidrs: readonly string[]): Range[] => {
  const known = parsedRanges.get(cidrs)
  if (known) return known
  const ranges = cidrs.map(cidr => ipaddr.parseCIDR(cidr))
  parsedRanges.set(cidrs, ranges)
  return ranges
}
