import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Service } from './service.ts'
import { until } from './until.ts'

export interface PageReply {
  status: number
  headers: Headers
  text: string
  location: string | null
}

type Fields = Record<string, string>

let clients = 0

/** A client that keeps cookies as a browser does, and follows no redirect. */
export class BrowserClient {
  readonly cookies = new Map<string, string>()
  readonly #url: string
  /** The token in the last form that the client has seen. */
  #formToken: string | undefined
  /** Services that trust this machine as a proxy see each client in a network of its own. */
  readonly #forwarded = { 'X-Forwarded-For': `10.${++clients >> 8}.${clients & 255}.1` }

  constructor(url: string) {
    this.#url = url.replace('//localhost', '//127.0.0.1')
  }

  get(path: string, headers: Record<string, string> = {}) {
    return this.#send('GET', path, headers)
  }

  /** Sends a form with the token of the last page, or of the sign-in page if there was none. */
  async post(path: string, fields: Fields = {}, headers: Record<string, string> = {}) {
    if (this.#formToken === undefined) await this.get('/console/sign-in')
    if (this.#formToken === undefined) await this.get('/console/settings')
    const token = { form_token: this.#formToken ?? '' }
    return this.#send('POST', path, headers, new URLSearchParams({ ...token, ...fields }))
  }

  /** Sends a request as a script of the page does, with JSON if there is a body. */
  async send<Body>(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const json = body && { text: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
    const reply = await this.#send(method, path, { ...json?.headers, ...headers }, json?.text)
    return { ...reply, body: JSON.parse(reply.text) as Body }
  }

  async #send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: URLSearchParams | string,
  ): Promise<PageReply> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(this.#url + path, {
      ...{ method, redirect: 'manual', headers: { ...this.#forwarded, ...(cookie && { cookie }), ...headers } },
      ...(body && { body }),
    })
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (value) this.cookies.set(name, value)
      else this.cookies.delete(name)
    }
    const { status } = answer
    const text = await answer.text()
    this.#formToken = / name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? this.#formToken
    return { status, headers: answer.headers, text, location: answer.headers.get('Location') }
  }

  /** Signs in with the code in the outbox of the service. */
  async signIn(service: Pick<Service, 'core'>, email: string): Promise<void> {
    const received = async () => (await messagesIn(service)).filter(message => message.includes(`To: ${email}\r\n`))
    const before = (await received()).length
    await this.post('/console/sign-in', { email })
    const code = await until('the code arrives', async () => codeIn((await received())[before]))
    const { location } = await this.post('/console/sign-in/code', { code })
    if (location !== '/console') throw new Error(`${email} is not signed in`)
  }
}

/** A browser in which the owner of an address has signed in. */
export const signedInAt = async (service: Pick<Service, 'url' | 'core'>, email: string): Promise<BrowserClient> => {
  const browser = new BrowserClient(service.url)
  await browser.signIn(service, email)
  return browser
}

/** The text of a page, with its own spaces. */
export const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&quot;|&#34;/g, '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

/** What people read on a page: its text with single spaces. */
export const wordsOf = (html: string): string => textOf(html).replaceAll(/\s+/g, ' ')

/** The messages in the outbox of a service, the oldest first. */
export const messagesIn = async ({ core }: Pick<Service, 'core'>): Promise<string[]> => {
  const { mail } = core.config
  if (mail.kind !== 'outbox') throw new Error('the mail goes elsewhere')
  const names = await readdir(mail.folder).catch(() => [])
  const whole = names.filter(name => name.endsWith('.eml')).sort()
  return Promise.all(whole.map(name => readFile(join(mail.folder, name), 'utf8')))
}

export const codeIn = (message = ''): string | undefined => /^ {4}([B-Z]{4}-[B-Z]{4})\r?$/m.exec(message)?.[1]
