/** The JSON Schema of a parameter, with a title and a description for users. */
export type Parameter = Record<string, unknown>

export interface Limits {
  minimum: number
  maximum: number
  multipleOf?: number
  /** Without a default, the parameter is optional. */
  default?: number
}

interface TextLimits {
  minLength?: number
  maxLength: number
  default?: string
}

export const text = (title: string, description: string, limits: TextLimits): Parameter => ({
  ...{ type: 'string', title, description, minLength: 1 },
  ...limits,
})

export const integer = (title: string, description: string, limits: Limits): Parameter => ({
  ...{ type: 'integer', title, description },
  ...limits,
})

export const number = (title: string, description: string, limits: Limits): Parameter => ({
  ...{ type: 'number', title, description },
  ...limits,
})

export const flag = (title: string, description: string, byDefault: boolean): Parameter => ({
  ...{ type: 'boolean', title, description },
  default: byDefault,
})

/** One of several values. Without a default, the parameter is optional. */
export const choice = <Value extends string | number | boolean>(
  title: string,
  description: string,
  values: Value[],
  byDefault?: Value,
): Parameter => ({
  type: values.every(Number.isInteger) ? 'integer' : typeof values[0],
  title,
  description,
  enum: values,
  ...(byDefault !== undefined && { default: byDefault }),
})
