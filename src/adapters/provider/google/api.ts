import type { VendorAccount } from '../vendor.ts'

const GOOGLE_URL = 'https://generativelanguage.googleapis.com'

/** The version with all the models: https://ai.google.dev/gemini-api/docs/api-versions */
export const API_VERSION = 'v1beta'

export const baseUrlOf = ({ baseUrl }: VendorAccount): string => baseUrl ?? GOOGLE_URL

export const urlOf = (account: VendorAccount, path: string): string => `${baseUrlOf(account)}/${API_VERSION}/${path}`

export const headersOf = ({ key }: VendorAccount) => ({ 'x-goog-api-key': key })
