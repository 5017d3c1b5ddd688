"""The prompts that speculation is judged on: ten that ask for code again with one small change, whose
answers repeat the prompt, and ten ordinary ones."""

_EDITS = [
    ("Repeat this Python code exactly, but rename the class Basket to Cart.", "python", '''
class Basket:
    """What a customer is about to buy."""

    def __init__(self, owner):
        self.owner = owner
        self.items = []

    def add(self, name, price, count=1):
        if price < 0:
            raise ValueError("a price is not negative")
        if count < 1:
            raise ValueError("a count is at least one")
        self.items.append((name, price, count))

    def remove(self, name):
        kept = []
        for item in self.items:
            if item[0] != name:
                kept.append(item)
        self.items = kept

    def total(self):
        result = 0
        for name, price, count in self.items:
            result += price * count
        return result

    def describe(self):
        lines = []
        for name, price, count in self.items:
            lines.append(f"{count} x {name} at {price}")
        lines.append(f"total: {self.total()}")
        return "\\n".join(lines)

    def is_empty(self):
        return len(self.items) == 0

    def clear(self):
        self.items = []
'''),
    ("Repeat this C code exactly, but change the buffer size from 256 to 512.", "c", '''
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_SIZE 256

struct line {
    char text[BUFFER_SIZE];
    struct line *next;
};

static struct line *read_lines(FILE *file) {
    struct line *first = NULL;
    struct line **last = &first;
    char buffer[BUFFER_SIZE];
    while (fgets(buffer, BUFFER_SIZE, file) != NULL) {
        struct line *line = malloc(sizeof(struct line));
        if (line == NULL) {
            fprintf(stderr, "out of memory\\n");
            exit(1);
        }
        strcpy(line->text, buffer);
        line->next = NULL;
        *last = line;
        last = &line->next;
    }
    return first;
}

static void print_lines(const struct line *line) {
    int number = 1;
    while (line != NULL) {
        printf("%d: %s", number, line->text);
        line = line->next;
        number = number + 1;
    }
}

int main(void) {
    struct line *lines = read_lines(stdin);
    print_lines(lines);
    return 0;
}
'''),
    ("Repeat this JavaScript code exactly, but rename the function loadUsers to fetchUsers.",
     "javascript", '''
const baseUrl = "https://example.org/api";

async function getJson(path) {
    const response = await fetch(baseUrl + path);
    if (!response.ok) {
        throw new Error("request failed: " + response.status);
    }
    return response.json();
}

async function loadUsers() {
    const users = await getJson("/users");
    return users.map(function (user) {
        return {
            id: user.id,
            name: user.firstName + " " + user.lastName,
            email: user.email,
        };
    });
}

async function loadOrders(userId) {
    const orders = await getJson("/users/" + userId + "/orders");
    return orders.filter(function (order) {
        return order.status !== "cancelled";
    });
}

function showUser(user) {
    const row = document.createElement("tr");
    const name = document.createElement("td");
    const email = document.createElement("td");
    name.textContent = user.name;
    email.textContent = user.email;
    row.appendChild(name);
    row.appendChild(email);
    document.querySelector("#users").appendChild(row);
}
'''),
    ("Repeat this Java code exactly, but change the start balance from 0 to 100.", "java", '''
import java.util.ArrayList;
import java.util.List;

public class Account {
    private final String owner;
    private final List<String> history;
    private int balance;

    public Account(String owner) {
        this.owner = owner;
        this.history = new ArrayList<>();
        this.balance = 0;
    }

    public void deposit(int amount) {
        if (amount <= 0) {
            throw new IllegalArgumentException("amount must be positive");
        }
        balance += amount;
        history.add("deposit " + amount);
    }

    public void withdraw(int amount) {
        if (amount <= 0) {
            throw new IllegalArgumentException("amount must be positive");
        }
        if (amount > balance) {
            throw new IllegalStateException("not enough money");
        }
        balance -= amount;
        history.add("withdraw " + amount);
    }

    public int getBalance() {
        return balance;
    }

    public String getOwner() {
        return owner;
    }

    public List<String> getHistory() {
        return history;
    }
}
'''),
    ("Repeat this SQL exactly, but rename the table customers to clients.", "sql", '''
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    city TEXT,
    created_at TIMESTAMP NOT NULL
);

CREATE TABLE products (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    price INTEGER NOT NULL,
    stock INTEGER NOT NULL
);

CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL,
    created_at TIMESTAMP NOT NULL,
    status TEXT NOT NULL
);

CREATE TABLE order_items (
    id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL,
    product_id INTEGER NOT NULL,
    count INTEGER NOT NULL,
    price INTEGER NOT NULL
);

CREATE INDEX orders_by_customer ON orders (customer_id);
CREATE INDEX items_by_order ON order_items (order_id);
CREATE INDEX items_by_product ON order_items (product_id);

INSERT INTO products (id, name, price, stock) VALUES (1, 'lamp', 2500, 10);
INSERT INTO products (id, name, price, stock) VALUES (2, 'chair', 4900, 4);
INSERT INTO products (id, name, price, stock) VALUES (3, 'table', 12900, 2);
INSERT INTO products (id, name, price, stock) VALUES (4, 'shelf', 7900, 6);
'''),
    ("Repeat this Go code exactly, but change the port from 8080 to 9090.", "go", '''
package main

import (
    "encoding/json"
    "log"
    "net/http"
    "sync"
)

type Store struct {
    mutex  sync.Mutex
    values map[string]string
}

func NewStore() *Store {
    return &Store{values: make(map[string]string)}
}

func (store *Store) Get(key string) (string, bool) {
    store.mutex.Lock()
    defer store.mutex.Unlock()
    value, found := store.values[key]
    return value, found
}

func (store *Store) Set(key string, value string) {
    store.mutex.Lock()
    defer store.mutex.Unlock()
    store.values[key] = value
}

func (store *Store) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
    key := request.URL.Query().Get("key")
    value, found := store.Get(key)
    if !found {
        http.NotFound(writer, request)
        return
    }
    json.NewEncoder(writer).Encode(value)
}

func main() {
    store := NewStore()
    store.Set("name", "hwtv")
    log.Fatal(http.ListenAndServe(":8080", store))
}
'''),
    ("Repeat this HTML page exactly, but change the title to Our Garden.", "html", '''
<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>My Garden</title>
  <link rel="stylesheet" href="style.css">
</head>
<body>
  <header>
    <h1>My Garden</h1>
    <nav>
      <ul>
        <li><a href="index.html">Home</a></li>
        <li><a href="plants.html">Plants</a></li>
        <li><a href="tools.html">Tools</a></li>
        <li><a href="contact.html">Contact</a></li>
      </ul>
    </nav>
  </header>
  <main>
    <section>
      <h2>Plants</h2>
      <p>We grow tomatoes, beans and roses.</p>
      <img src="tomatoes.jpg" alt="Tomatoes in June">
    </section>
    <section>
      <h2>Tools</h2>
      <p>A spade, a rake and a watering can are enough.</p>
      <img src="tools.jpg" alt="Tools in the shed">
    </section>
    <section>
      <h2>Contact</h2>
      <form action="/send" method="post">
        <input type="text" name="name">
        <input type="email" name="email">
        <textarea name="message"></textarea>
        <button type="submit">Send</button>
      </form>
    </section>
  </main>
  <footer>
    <p>Made in a garden.</p>
  </footer>
</body>
</html>
'''),
    ("Repeat this Python code exactly, but change the default timeout from 10 to 30.", "python", '''
import json
import socket
import time


def connect(host, port, timeout=10):
    """A connection to the server, tried three times."""
    for attempt in range(3):
        try:
            return socket.create_connection((host, port), timeout)
        except OSError as error:
            print(f"attempt {attempt}: {error}")
            time.sleep(1)
    raise ConnectionError(f"no connection to {host}:{port}")


def send(connection, message):
    data = json.dumps(message).encode("utf-8")
    connection.sendall(len(data).to_bytes(4, "big"))
    connection.sendall(data)


def receive(connection):
    size = int.from_bytes(read(connection, 4), "big")
    return json.loads(read(connection, size).decode("utf-8"))


def read(connection, size):
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise ConnectionError("the server has closed the connection")
        data += piece
    return data


def ask(host, port, question):
    with connect(host, port) as connection:
        send(connection, {"question": question})
        return receive(connection)["answer"]
'''),
    ("Repeat this C++ code exactly, but rename the function print_all to show_all.", "cpp", '''
#include <iostream>
#include <string>
#include <vector>

struct Book {
    std::string title;
    std::string author;
    int year;
};

std::vector<Book> make_books() {
    std::vector<Book> books;
    books.push_back({"The Sea", "Anna Berg", 1987});
    books.push_back({"The Mountain", "Peter Holm", 1992});
    books.push_back({"The River", "Maria Lund", 2001});
    books.push_back({"The Forest", "Jonas Dahl", 2010});
    return books;
}

void print_book(const Book& book) {
    std::cout << book.title << " by " << book.author << ", " << book.year << std::endl;
}

void print_all(const std::vector<Book>& books) {
    for (const Book& book : books) {
        print_book(book);
    }
}

const Book* find_by_author(const std::vector<Book>& books, const std::string& author) {
    for (const Book& book : books) {
        if (book.author == author) {
            return &book;
        }
    }
    return nullptr;
}

int main() {
    std::vector<Book> books = make_books();
    print_all(books);
    const Book* found = find_by_author(books, "Maria Lund");
    if (found != nullptr) {
        print_book(*found);
    }
    return 0;
}
'''),
    ("Repeat this CSS exactly, but change the main color from navy to green.", "css", '''
body {
  margin: 0;
  padding: 0;
  color: black;
  background-color: white;
  font-family: sans-serif;
  font-size: 16px;
}

header {
  padding: 20px;
  color: white;
  background-color: navy;
}

header h1 {
  margin: 0;
  font-size: 32px;
}

nav ul {
  margin: 0;
  padding: 0;
  list-style: none;
}

nav li {
  display: inline-block;
  margin-right: 20px;
}

nav a {
  color: white;
  text-decoration: none;
}

main {
  max-width: 800px;
  margin: 0 auto;
  padding: 20px;
}

footer {
  padding: 20px;
  font-size: 12px;
  text-align: center;
  border-top: 1px solid gray;
}
'''),
]

EDITS = [f"{ask}\n\n```{language}\n{code.strip()}\n```\n" for ask, language, code in _EDITS]

ORDINARY = [
    "Why is the sky blue during the day and red in the evening?",
    "Write a short story about a lighthouse keeper who finds a letter in a bottle.",
    "Explain how a bicycle stays upright while it is moving.",
    "What should I think about before I adopt a dog?",
    "Write a friendly letter to a neighbour who plays the trumpet at night.",
    "Describe how bread is made, from the field to the table.",
    "Give me five ideas for a birthday party in the rain.",
    "What is the difference between weather and climate?",
    "Write a Python function that tells whether a number is prime, and explain it.",
    "Tell me about the history of printing.",
]
