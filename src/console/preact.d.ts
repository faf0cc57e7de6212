import type { Children, Markup } from '#jsx/jsx-runtime'

/** A value that all parts of a page can read. */
export interface Context<Value> {
  Provider(props: { value: Value; children?: Children }): Markup
  Consumer(props: { children: (value: Value) => Children }): Markup
}

export declare const createContext: <Value>(initial: Value | undefined) => Context<Value>
