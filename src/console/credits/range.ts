import { CREDITS_PATH } from '../../services/purchases/pages.ts'

/** What the page shows, from its address. */
export interface CreditsView {
  range: CreditsRange
  by: SpendingBy
  cursor?: string | undefined
}

export const RANGES = {
  '7d': { days: 7, name: '7 d', text: '7 days' },
  '30d': { days: 30, name: '30 d', text: '30 days' },
  '1y': { days: 365, name: '1 y', text: '365 days' },
} as const
export type CreditsRange = keyof typeof RANGES

export const SPENDING_BY = { model: 'Model', key: 'Key', label: 'Label' } as const
export type SpendingBy = keyof typeof SPENDING_BY

/** The address of a view. What has its default is left out. */
export const addressOf = ({ range, by, cursor }: CreditsView): string => {
  const query = new URLSearchParams({
    ...(range !== '30d' && { range }),
    ...(by !== 'model' && { by }),
    ...(cursor !== undefined && { cursor }),
  })
  return query.size > 0 ? `${CREDITS_PATH}?${query}` : CREDITS_PATH
}

/** The attributes of a link that changes a part of the page. Without scripts, it opens the whole page. */
export const swaps = (id: string, href: string) => ({
  href,
  'hx-get': href,
  'hx-target': `#${id}`,
  'hx-select': `#${id}`,
  'hx-swap': 'outerHTML',
  'hx-push-url': 'true',
})

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `Nov 27`, from the text of a UTC day. */
export const dayName = (day: string): string => `${MONTHS[Number(day.slice(5, 7)) - 1]} ${Number(day.slice(8, 10))}`
