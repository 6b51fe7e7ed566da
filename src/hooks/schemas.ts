/**
 * Checks messages between processes of the same build. This module has no dependencies, because the guardian
 * loads it and must not load any packages.
 */

export type Check<T> = (value: unknown) => value is T;
export type Shape<T> = { readonly [Key in keyof T]-?: Check<T[Key]> };
/** Checks for the fields of each type of message, without the field `type` itself. */
export type Shapes<Message extends { type: string }> = {
  readonly [Type in Message['type']]: Shape<Omit<Extract<Message, { type: Type }>, 'type'>>;
};

export const isText: Check<string> = (value) => typeof value === 'string';
export const isNumber: Check<number> = (value): value is number => Number.isFinite(value);
export const isFlag: Check<boolean> = (value) => typeof value === 'boolean';
export const isTexts: Check<readonly string[]> = listOf(isText);

export function isOneOf(shapes: object, message: unknown): boolean {
  if (!isObject(message) || !('type' in message) || typeof message.type !== 'string') return false;
  const shape: unknown = Object.hasOwn(shapes, message.type) ? Reflect.get(shapes, message.type) : null;
  return isObject(shape) && fits(message, shape);
}

export function fits(value: object, shape: object): boolean {
  return Object.entries(shape).every(([key, check]) => check(Reflect.get(value, key)));
}

export function shaped<T>(shape: Shape<T>): Check<T> {
  return (value): value is T => isObject(value) && fits(value, shape);
}

export function listOf<T>(check: Check<T>): Check<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(check);
}

export function orNull<T>(check: Check<T>): Check<T | null> {
  return (value): value is T | null => value === null || check(value);
}

export function oneOf<T extends string>(...values: readonly T[]): Check<T> {
  return (value): value is T => values.some((one) => one === value);
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
