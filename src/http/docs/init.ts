/**
 * The script of the page. It loads the OpenAPI document and hands the document to the viewer. The script tries the
 * session of the browser first, and then a key. The key stays in the page and goes only to the service that served the
 * page.
 */
export const init = /* js */ `'use strict'
const field = document.getElementById('key')
const state = document.getElementById('state')
const account = document.getElementById('account')
let viewer

const say = (text, isWrong = false) => {
  state.textContent = text
  state.classList.toggle('wrong', isWrong)
}

const load = async key => {
  const headers = key ? { Authorization: 'Bearer ' + key } : {}
  const answer = await fetch('/v1/openapi.json', { headers, cache: 'no-cache' }).catch(() => undefined)
  if (answer?.status === 401)
    return key
      ? say('This API key is unknown or was revoked.', true)
      : say('Sign in, or enter an API key, to read the reference and try requests.')
  if (!answer?.ok) return say('The OpenAPI document could not be loaded. Please try again in a moment.', true)
  const description = await answer.json()
  const isSignedIn = (await fetch('/v1/balance').catch(() => undefined))?.ok === true
  if (isSignedIn) account.textContent = 'Your account'
  if (key) say('Requests are sent with this key.')
  else say(isSignedIn ? 'You are signed in: requests are sent for your account, and runs cost its credits.' : '')
  show(description, key)
}

const show = (description, key) => {
  const authorize = () => key && viewer.preauthorizeApiKey('apiKey', key)
  if (viewer) return authorize()
  viewer = SwaggerUIBundle({
    // Requests go to the host that served the page, by the name that the browser used.
    spec: { ...description, servers: [{ url: location.origin }] },
    dom_id: '#reference',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    persistAuthorization: false,
    queryConfigEnabled: false,
    validatorUrl: null,
    onComplete: authorize,
  })
}

document.getElementById('key-form').addEventListener('submit', event => {
  event.preventDefault()
  load(field.value.trim())
})

const dark = matchMedia('(prefers-color-scheme: dark)')
const tint = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', tint)
tint()
load()
`
