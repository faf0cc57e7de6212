import { DocsFile, DocsFileName, DocsPage } from '../../../schemas/api/descriptors.ts'
import { StaticBody, staticHeaders, staticResponses } from '../answers/static-body.ts'
import type { Context } from '../context.ts'
import { docsFile } from '../docs/files.ts'
import { docsHtml } from '../docs/html.ts'
import { route } from '../route.ts'

/** Only files from this service, and nothing inline. blob: and data: let the viewer show images and play sound. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const getDocs = route({
  id: 'getDocs',
  method: 'get',
  path: '/docs',
  tag: 'Service',
  summary: 'Read this reference in a browser',
  description: 'The page sends requests with your session if you are signed in, or with an API key that you enter.',
  auth: 'none',
  headers: staticHeaders,
  responses: staticResponses('The page.', DocsPage, { type: 'text/html' }),
  serve: ctx => answer(ctx, html),
})

const getDocsFile = route({
  id: 'getDocsFile',
  method: 'get',
  path: '/docs/:file',
  tag: 'Service',
  summary: 'Get a file of the reference page',
  description: 'The style sheets and scripts that the page loads.',
  auth: 'none',
  params: { file: DocsFileName },
  headers: staticHeaders,
  responses: staticResponses('The file.', DocsFile, { type: 'text/*' }),
  errors: ['not_found'],
  serve: async (ctx, _, { params }) => {
    const file = await docsFile(params.file)
    if (file) await answer(ctx, file)
  },
})

export const docsRoutes = [getDocs, getDocsFile]

const html = new StaticBody('text/html', docsHtml)

const answer = (ctx: Context, body: StaticBody) => {
  // The files must match each other, so clients revalidate each one every time.
  ctx.set('Cache-Control', 'no-cache')
  ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.set('Referrer-Policy', 'no-referrer')
  return body.answer(ctx)
}
