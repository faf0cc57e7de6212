import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Duplex } from 'node:stream'
import type { Agent, Dispatcher } from 'undici'

/** The proxy for `https://` addresses and mail. */
export interface ProxySettings {
  /** Its URL, which may hold a user and password. */
  url: string
  /** Hosts that are reached without the proxy, as in NO_PROXY. */
  noProxy: string
}

/** Much longer than a working proxy takes, but short enough for a command. */
const TRIAL_MS = 5000

/** The URL of the proxy to a host; undefined for a host that needs none. An IPv6 address is in brackets. */
export const proxyFor = (proxy: ProxySettings | undefined, host: string, port: number): string | undefined =>
  proxy && !isExempt(host.toLowerCase(), port, proxy.noProxy) ? proxy.url : undefined

/** Whether NO_PROXY names a host or its domain, as `EnvHttpProxyAgent` reads it. */
const isExempt = (host: string, port: number, noProxy: string): boolean =>
  noProxy.split(/[,\s]/).some(entry => {
    const [, name = entry, onlyPort] = /^(.+):(\d+)$/.exec(entry) ?? []
    if (name === '' || (onlyPort !== undefined && Number(onlyPort) !== port)) return false
    const domain = name.toLowerCase().replace(/^\*?\./, '')
    return domain === '*' || host === domain || host.endsWith(`.${domain}`)
  })

/** An agent for hosts that the operator chose. A proxy resolves their names. */
export const openProxyAgent = async (proxy: ProxySettings | undefined, options: Agent.Options): Promise<Dispatcher> => {
  const { Agent, EnvHttpProxyAgent } = await import('undici')
  if (!proxy) return new Agent(options)
  // Undefined settings would be read from the environment.
  return new EnvHttpProxyAgent({ ...options, httpProxy: '', httpsProxy: proxy.url, noProxy: proxy.noProxy })
}

/** A `fetch` for hosts that the operator chose. */
export const proxyFetch = (proxy: ProxySettings): typeof fetch => {
  let agent: Promise<Dispatcher> | undefined
  return async (input, init) => {
    agent ??= openProxyAgent(proxy, {})
    const dispatcher = (await agent) as unknown as NonNullable<RequestInit['dispatcher']>
    return fetch(input, { ...init, dispatcher })
  }
}

/**
 * The reason why the proxy opens no tunnel to an address, without credentials; undefined if it does, or if the address
 * needs no proxy.
 */
export const proxyFault = async (settings: ProxySettings | undefined, address: string): Promise<string | undefined> => {
  const { protocol, hostname, port } = new URL(address)
  const targetPort = Number(port) || 443
  const proxy = protocol === 'https:' ? proxyFor(settings, hostname, targetPort) : undefined
  if (proxy === undefined) return undefined
  try {
    const tunnel = await openTunnel(proxy, `${hostname}:${targetPort}`, TRIAL_MS)
    tunnel.destroy()
    return undefined
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    const fault = `opens no connection to ${hostname} (${message || code})`
    return `${new URL(proxy).host} ${fault}; check HTTPS_PROXY and NO_PROXY`
  }
}

/** Opens a tunnel through a proxy to an address and port (RFC 9110, section 9.3.6). */
export const openTunnel = (proxy: string, authority: string, timeout: number): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    const { protocol, hostname, port, username, password } = new URL(proxy)
    const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    const authorization = username && { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }
    const request = (protocol === 'https:' ? requestHttps : requestHttp)({
      ...{ method: 'CONNECT', path: authority, agent: false, timeout },
      ...{ host: hostname.replace(/^\[|\]$/g, ''), port: port || undefined },
      headers: { host: authority, ...authorization },
    })
    request.on('connect', ({ statusCode = 0 }, socket) => {
      socket.setTimeout(0)
      if (statusCode >= 200 && statusCode < 300) return resolve(socket)
      socket.destroy()
      reject(new Error(`the proxy answered with ${statusCode}`))
    })
    request.on('timeout', () => request.destroy(new Error('the proxy did not answer in time')))
    request.on('error', reject)
    request.end()
  })
