/** What an address of an EventStoreDB server says. */
export interface EventStoreAddress {
  /** For the vendor's client: the address without what is only ours. */
  connectionString: string
  /** The hosts, for messages. */
  server: string
  /** What the names of all our streams begin with there, so that several deployments can share a server. */
  streamPrefix: string
}

/**
 * Reads `esdb://user:password@host:port,host:port?tls=false&streamPrefix=…`. Throws a TypeError that does not repeat the
 * address, since there may be a password in it; the vendor's client would, and prints it for options that it does not know.
 */
export const parseEventStoreUrl = (url: string): EventStoreAddress => {
  const match = FORM.exec(url)
  if (!match) throw new TypeError(`an EventStoreDB address has the form ${EXAMPLE}`)
  const [, scheme, credentials = '', server = '', query = ''] = match
  if (!isDecodable(credentials))
    throw new TypeError('the credentials of an EventStoreDB address must be percent-encoded')
  const options = new URLSearchParams(query)
  const streamPrefix = options.get('streamPrefix') ?? ''
  if (!PREFIX.test(streamPrefix))
    throw new TypeError('streamPrefix may have letters, digits, "-", "_" and "." only, and at most 100 of them')
  options.delete('streamPrefix')
  for (const [name, value] of options) {
    const form = OPTIONS[name]
    if (!form) throw new TypeError(`${name} is no option of an EventStoreDB address; there are ${KNOWN.join(', ')}`)
    if (!form.test(value)) throw new TypeError(`${name} cannot be what it is in an EventStoreDB address`)
  }
  const rest = [...options].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  return { connectionString: `${scheme}://${credentials}${server}${rest && `?${rest}`}`, server, streamPrefix }
}

const EXAMPLE = 'esdb://user:password@host:2113?tls=true&streamPrefix=name-'

const HOST = '[\\w.-]+(?::\\d{1,5})?'
const FORM = new RegExp(`^(esdb|esdb\\+discover)://([^:@/?]+:[^:@/?]+@)?(${HOST}(?:,${HOST})*)/?(?:\\?(.*))?$`)
const PREFIX = /^[\w.-]{0,100}$/

const SWITCH = /^(true|false)$/
const NUMBER = /^\d{1,9}$/
const TEXT = /./

/** What the vendor's client takes. It prints a warning when it is asked not to check certificates, so that is left out. */
const OPTIONS: Record<string, RegExp> = {
  tls: SWITCH,
  tlsCAFile: TEXT,
  userCertFile: TEXT,
  userKeyFile: TEXT,
  connectionName: TEXT,
  nodePreference: /^leader$/,
  maxDiscoverAttempts: NUMBER,
  discoveryInterval: NUMBER,
  gossipTimeout: NUMBER,
  keepAliveInterval: NUMBER,
  keepAliveTimeout: NUMBER,
}
const KNOWN = [...Object.keys(OPTIONS), 'streamPrefix']

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
