import type { IconName } from './parts/icon.tsx'

/** A page that the navigation leads to. */
export interface Place {
  href: string
  name: string
  icon: IconName
  /** The key that leads there after `g`. */
  key?: string
}

const account: readonly Place[] = [
  { href: '/console/playground', name: 'Playground', icon: 'play', key: 'p' },
  { href: '/console/runs', name: 'Runs', icon: 'layout-grid', key: 'r' },
  { href: '/console/credits', name: 'Credits', icon: 'coins', key: 'c' },
  { href: '/console/keys', name: 'API keys', icon: 'key-round', key: 'k' },
  { href: '/console/webhooks', name: 'Webhooks', icon: 'webhook', key: 'w' },
  { href: '/console/settings', name: 'Settings', icon: 'settings', key: 's' },
]

const operator: readonly Place[] = [
  { href: '/console/operator', name: 'Overview', icon: 'activity', key: 'o' },
  { href: '/console/operator/accounts', name: 'Accounts', icon: 'users', key: 'a' },
  { href: '/console/operator/catalog', name: 'Catalog', icon: 'package', key: 'm' },
]

const documentation: Place = { href: '/docs', name: 'Documentation', icon: 'book-open', key: 'd' }

/** The page with all places, for phones. */
const more: Place = { href: '/console/more', name: 'More', icon: 'ellipsis' }

export const navigation = { account, operator, documentation, more }
