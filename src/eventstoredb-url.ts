import { readFileSync } from 'node:fs'
import type { EventStoreAddress } from './adapters/event-log/eventstoredb-connection.ts'
import { percentDecode } from './percent-decode.ts'

const EXAMPLE = 'esdb://user:password@host:2113?tls=true&streamPrefix=name-'

const HOST = '[\\w.-]+(?::\\d{1,5})?'
const FORM = new RegExp(`^(esdb|esdb\\+discover)://([^:@/?]+:[^:@/?]+@)?(${HOST}(?:,${HOST})*)/?(?:\\?(.*))?$`)
const PREFIX = /^[\w.-]{0,100}$/

const SWITCH = /^(true|false)$/
const NUMBER = /^\d{1,9}$/
const TEXT = /./

/** What the vendor's client takes. It prints a warning when it is asked not to check certificates, so that is left out. */
const PARAMETERS: Record<string, RegExp> = {
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
const KNOWN = [...Object.keys(PARAMETERS), 'streamPrefix'].join(', ')

/**
 * Reads `esdb://user:password@host:port,host:port?tls=false&streamPrefix=…`; a text says what is wrong with it, and nothing
 * of its password. The vendor's client would repeat the address, and print it for parameters that it does not know.
 * The files that it names are looked for.
 */
export const parseEventStoreUrl = (text: string): EventStoreAddress | string => {
  const match = FORM.exec(text)
  if (!match) return `must have the form ${EXAMPLE}`
  const [, scheme, credentials = '', server = '', query = ''] = match
  if (percentDecode(credentials) === undefined) return 'must have a user and a password that are percent-encoded'
  const parameters = new URLSearchParams(query)
  const streamPrefix = parameters.get('streamPrefix') ?? ''
  if (!PREFIX.test(streamPrefix))
    return 'must have a streamPrefix of letters, digits, "-", "_" and "." only, and at most 100 of them'
  parameters.delete('streamPrefix')
  for (const [name, value] of parameters) {
    const form = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined
    // What stands there may be the rest of a password with a question mark in it.
    if (!form) return `has an unknown parameter; there are ${KNOWN}`
    if (!form.test(value)) return `has a value of ${name} that cannot be used`
    // The vendor's client reads it, and does not say what it was for when it is missing.
    if (name.endsWith('File') && !isReadable(value)) return `has a ${name} that cannot be read`
  }
  if (parameters.has('userCertFile') !== parameters.has('userKeyFile'))
    return 'must have userCertFile and userKeyFile together'
  const rest = [...parameters].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  return { connectionString: `${scheme}://${credentials}${server}${rest && `?${rest}`}`, server, streamPrefix }
}

const isReadable = (file: string): boolean => {
  try {
    readFileSync(file)
    return true
  } catch {
    return false
  }
}
