/** The addresses of the documentation. */
export const DOCS = '/docs'
export const FIRST_REQUEST = '/docs/first-request'
export const DOCS_SEARCH = '/docs/search'
export const REFERENCE = '/docs/reference'

export const operationPath = (id: string): string => `${REFERENCE}/${id}`
export const schemaPath = (name: string): string => `${REFERENCE}/schemas/${encodeURIComponent(name)}`
