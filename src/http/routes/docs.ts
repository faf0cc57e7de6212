import { DocsFile, DocsFileName, DocsPage } from '../../../schemas/api/descriptors.ts'
import type { Context } from '../context.ts'
import { docsFile } from '../docs/files.ts'
import { page } from '../docs/page.ts'
import { operation, type Serve } from '../operation.ts'
import { StaticBody, staticAnswers, staticHeaders } from '../static-body.ts'

/** Nothing from elsewhere, and nothing that stands in the page itself; pictures and sound of answers that were tried. */
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

const getDocs = operation({
  id: 'getDocs',
  method: 'get',
  path: '/docs',
  tag: 'Service',
  summary: 'This reference as a page',
  description: 'It asks for a key, and requests can be tried with it.',
  open: true,
  headers: staticHeaders,
  answers: staticAnswers('The page.', DocsPage, 'text/html'),
})

const getDocsFile = operation({
  id: 'getDocsFile',
  method: 'get',
  path: '/docs/:file',
  tag: 'Service',
  summary: 'What the page is made of',
  open: true,
  params: { file: DocsFileName },
  headers: staticHeaders,
  answers: staticAnswers('The file.', DocsFile, 'text/*'),
  errors: ['not_found'],
})

export const docsOperations = [getDocs, getDocsFile]

export const docsRoutes = (serve: Serve) => {
  serve(getDocs, ctx => answer(ctx, html))
  serve(getDocsFile, async (ctx, { params }) => {
    const file = await docsFile(params.file)
    if (file) await answer(ctx, file)
  })
}

const html = new StaticBody('text/html', page)

const answer = (ctx: Context, body: StaticBody) => {
  // The files belong together, so a client asks each time whether it still has the right ones.
  ctx.set('Cache-Control', 'no-cache')
  ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.set('Referrer-Policy', 'no-referrer')
  return body.answer(ctx)
}
