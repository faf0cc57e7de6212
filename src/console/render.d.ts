import type { Markup } from '#jsx/jsx-runtime'

/** Renders a page as HTML. Text and attributes are escaped. */
export declare const render: (page: Markup) => string
