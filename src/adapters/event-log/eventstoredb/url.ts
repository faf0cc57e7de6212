import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { percentDecode } from '../../percent-decode.ts'
import type { Endpoint, EventStoreAddress } from './address.ts'

const EXAMPLE = 'esdb://user:password@host:2113?tls=true&streamPrefix=name-'

const HOST = '[\\w.-]+(?::\\d{1,5})?'
const FORM = new RegExp(`^(esdb|esdb\\+discover)://([^:@/?]+:[^:@/?]+@)?(${HOST}(?:,${HOST})*)/?(?:\\?(.*))?$`)
const DEFAULT_PORT = 2113

/** Detects a dead peer within 20 s, even without requests. */
const DEFAULT_KEEP_ALIVE_MS = 10_000

const SWITCH = /^(true|false)$/
const NUMBER = /^[1-9]\d{0,8}$/
const TEXT = /./

const PARAMETERS: Record<string, RegExp> = {
  tls: SWITCH,
  tlsCAFile: TEXT,
  userCertFile: TEXT,
  userKeyFile: TEXT,
  connectionName: /^[ -~]+$/,
  nodePreference: /^leader$/,
  keepAliveInterval: NUMBER,
  keepAliveTimeout: NUMBER,
  streamPrefix: /^[\w.-]{0,100}$/,
}
const KNOWN = Object.keys(PARAMETERS).join(', ')

/** Unsupported options of the vendor's clients. Ignoring them silently would mislead the operator. */
const UNSUPPORTED = [
  ...['maxDiscoverAttempts', 'discoveryInterval', 'gossipTimeout', 'defaultDeadline'],
  ...['dnsDiscover', 'tlsVerifyCert', 'throwOnAppendFailure'],
]

/**
 * Parses `esdb://user:password@host:port,host:port?tls=false&streamPrefix=…`. Returns a string for an invalid address:
 * the error message, which never contains the password. Files in the address must be readable.
 */
export const parseEventStoreUrl = (text: string): EventStoreAddress | string => {
  const match = FORM.exec(text)
  if (!match) return `must have the form ${EXAMPLE}`
  const [, scheme, login = '', server = '', query = ''] = match
  const [user, password] = login.slice(0, -1).split(':').map(percentDecode)
  if (login && !(user && password)) return 'must have a percent-encoded user and password'
  const seeds = server.split(',').map(toEndpoint)
  if (seeds.some(({ port }) => port < 1 || port > 65_535)) return 'must have ports from 1 to 65535'
  const discover = scheme === 'esdb+discover'
  if (discover && seeds.length > 1) return 'must have a single name after esdb+discover that resolves to all members'
  const parameters = new URLSearchParams(query)
  const fault = findFault(parameters)
  if (fault) return fault
  const get = (name: string) => parameters.get(name) ?? undefined
  const tls = { caFile: get('tlsCAFile'), certFile: get('userCertFile'), keyFile: get('userKeyFile') }
  const milliseconds = (name: string) => Number(get(name) ?? DEFAULT_KEEP_ALIVE_MS)
  return {
    seeds,
    discover,
    server,
    streamPrefix: get('streamPrefix') ?? '',
    tls: get('tls') === 'false' ? undefined : tls,
    credentials: user && password ? { user, password } : undefined,
    connectionName: get('connectionName'),
    keepAlive: { intervalMs: milliseconds('keepAliveInterval'), timeoutMs: milliseconds('keepAliveTimeout') },
  }
}

const toEndpoint = (text: string): Endpoint => {
  const [host = '', port] = text.split(':')
  return { host, port: port === undefined ? DEFAULT_PORT : Number(port) }
}

const findFault = (parameters: URLSearchParams): string | undefined => {
  for (const [name, value] of parameters) {
    if (UNSUPPORTED.includes(name)) return `has ${name}, which Tollgate does not use; leave it out`
    const form = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined
    // Not repeated, because it may be part of a password that contains '?'.
    if (!form) return `has an unknown parameter; the known ones are ${KNOWN}`
    if (name === 'streamPrefix' && !form.test(value))
      return 'must have a streamPrefix of letters, digits, "-", "_" and "." only, and at most 100 of them'
    if (!form.test(value)) return `has an invalid value for ${name}`
    if (name.endsWith('File') && read(value) === undefined) return `has an unreadable ${name}`
  }
  if (parameters.has('userCertFile') !== parameters.has('userKeyFile'))
    return 'must have userCertFile and userKeyFile together'
  const [ca, cert, key] = ['tlsCAFile', 'userCertFile', 'userKeyFile'].map(name => read(parameters.get(name)))
  if (ca && !isCertificate(ca)) return 'must have a PEM certificate as tlsCAFile'
  if (cert && key && !isKeyPair(cert, key))
    return 'must have a PEM certificate and its key as userCertFile and userKeyFile'
  return undefined
}

const read = (file: string | null): Buffer | undefined => {
  try {
    return file === null ? undefined : readFileSync(file)
  } catch {
    return undefined
  }
}

const isCertificate = (pem: Buffer): boolean => {
  try {
    return new X509Certificate(pem).subject !== ''
  } catch {
    return false
  }
}

const isKeyPair = (cert: Buffer, key: Buffer): boolean => {
  try {
    return createSecureContext({ cert, key }) !== undefined
  } catch {
    return false
  }
}
