import { createContext } from '#preact'
import type { Brand } from '../domain/brand.ts'

/** What all parts of a page know of its request. */
export interface PageState {
  /** The path and query of the page. */
  url: string
  /** The token that each form sends, which pages of other sites cannot know. */
  formToken: string
  nowMs: number
  /** The address of a style sheet, script or font. It changes with the content. */
  assetUrl(name: string): string
  brand: Brand
  isSignedIn: boolean
  /** The page of the account that an operator looks at, in those parts of it that its owner sees. */
  lookingAt?: string
  /** Undefined on pages for everyone. */
  account: PageAccount | undefined
}

export interface PageAccount {
  /** The address or name that signs in. */
  name: string
  balanceMicros: number
  /** The credits of the runs that have not ended. */
  heldMicros: number
  holdingRuns: number
  isTest: boolean
  isOperator: boolean
}

/** Every page is rendered with it. */
export const PageContext = createContext<PageState>(undefined)
