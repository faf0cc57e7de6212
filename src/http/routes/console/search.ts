import type Router from '@koa/router'
import { creditsIn, statusOf } from '../../../console/credits/purchase-words.ts'
import { MAX_QUERY } from '../../../console/finder/finder.tsx'
import { FinderResults, SearchPage, type SearchResult } from '../../../console/finder/search-page.tsx'
import { accountPath } from '../../../console/operator/account-words.ts'
import { credits } from '../../../console/parts/text.ts'
import type { Found } from '../../../services/operator/lookups.ts'
import { purchasePath } from '../../../services/purchases/pages.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { isFragment, redirect, showPage } from '../../answers/page-answers.ts'
import { waitingClient } from '../../connections/disconnect.ts'
import type { RequestState } from '../../context.ts'
import type { PageDependencies } from './dependencies.ts'
import { namedResults } from './search-names.ts'

/**
 * One search for the whole console: pages, actions and the account's own things by their names, and anything by its
 * ID. Operators find by ID the things of all accounts; for others, those of other accounts do not exist.
 */
export const searchPages = (router: Router<RequestState>, dependencies: PageDependencies) => {
  const { services, operators, forOwner } = dependencies
  const { lookups, identities } = services

  router.get(
    '/console/search',
    forOwner(async (ctx, owner) => {
      const query = (typeof ctx.query['q'] === 'string' ? ctx.query['q'] : '').trim().slice(0, MAX_QUERY)
      const operator = operators.callerOf(owner, unwrap(await identities.list(owner)))
      const own = query === '' ? [] : unwrap(await lookups.own(owner, query)).map(ownResult)
      const others =
        operator && own.length === 0 && query !== '' ? unwrap(await lookups.any(operator, query)).map(anyResult) : []
      const things = [...own, ...others]
      const named = await namedResults(
        dependencies,
        owner,
        { query, isOperator: operator !== undefined },
        waitingClient(ctx),
      )
      const results = [...things, ...named.filter(({ href }) => things.every(thing => thing.href !== href))]
      if (isFragment(ctx)) return showPage(ctx, FinderResults({ query, results }))
      // An ID leads to its page at once.
      if (things.length === 1 && things[0]) return redirect(ctx, things[0].href)
      showPage(ctx, SearchPage({ query, results }))
    }),
  )
}

/** Where owners see their own things. */
const ownResult = (found: Found): SearchResult => {
  switch (found.kind) {
    case 'account':
      return { href: '/console/settings', icon: 'users', name: found.name, note: 'Account' }
    case 'run':
      return runResult(found.run, '/console/runs')
    case 'key':
      return keyResult(found.key, '/console/keys')
    case 'upload':
      return uploadResult(found.upload, `/v1/uploads/${found.upload.uploadId}`)
    case 'purchase':
      return purchaseResult(found.purchase, purchasePath(found.purchase.purchaseId))
  }
}

/** Where operators see the things of an account. */
const anyResult = (found: Found): SearchResult => {
  switch (found.kind) {
    case 'account':
      return { href: accountPath(found.accountId), icon: 'users', name: found.name, note: 'Account' }
    case 'run':
      return runResult(found.run, `${accountPath(found.run.accountId)}/runs`)
    case 'key':
      return keyResult(found.key, accountPath(found.key.accountId))
    case 'upload':
      return uploadResult(found.upload, accountPath(found.upload.accountId))
    case 'purchase':
      return purchaseResult(found.purchase, accountPath(found.purchase.accountId))
  }
}

type Of<Kind extends Found['kind']> = Extract<Found, { kind: Kind }>

const runResult = ({ runId, model, status }: Of<'run'>['run'], folder: string): SearchResult => ({
  ...{ href: `${folder}/${runId}`, icon: 'layout-grid', name: `Run of ${model}` },
  note: status,
})

const keyResult = ({ keyId, name, revokedAt }: Of<'key'>['key'], page: string): SearchResult => ({
  ...{ href: `${page}#${keyId}`, icon: 'key-round', name },
  note: revokedAt === undefined ? 'API key' : 'revoked API key',
})

const uploadResult = ({ filename }: Of<'upload'>['upload'], href: string): SearchResult => ({
  ...{ href, icon: 'upload', name: filename },
  note: 'Upload',
})

const purchaseResult = (purchase: Of<'purchase'>['purchase'], href: string): SearchResult => ({
  ...{ href, icon: 'coins', name: `${credits(creditsIn(purchase))} credits` },
  note: `Purchase · ${statusOf(purchase).word.toLowerCase()}`,
})
